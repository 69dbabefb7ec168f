package scrub

import (
	"html"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes are all the characters that a part of a text can stand for: each as it stands, and each escape
// of JSON, HTML, URLs and programming languages, also where escapes are escaped again.
type escapes struct {
	readings []reading
	first    []int32 // by offset: the readings that begin there, as an index of readings; -1 for none
	chars    []char  // the part as a reader sees it who resolved its escapes some times
	resolved []char  // ... and once more

	references map[string]reference // the named ones of HTML that were met, since a page repeats them
}

// reference is what the first bytes of a name stand for.
type reference struct {
	r    rune
	size int // how many bytes; 0 for none
}

// reading is a character that the bytes before end can stand for.
type reading struct {
	letter
	end  int
	next int32 // another that begins at the same byte, as an index; -1 for none
}

// char is a character and the bytes that stand for it.
type char struct {
	r          rune
	start, end int
}

// deepest is how often escapes are resolved that escape others.
const deepest = 10

// opensEscape reports whether an escape can begin with r, or hold the beginning of another in its place.
func opensEscape(r rune) bool { return r == '\\' || r == '%' || r == '&' }

// beginsEscape reports whether an escape can begin with r, which stands before rest. Some characters
// outside ASCII can, since UTF-8 that was read as Latin-1 is one escape more.
func beginsEscape(r rune, rest string) bool {
	if r < utf8.RuneSelf {
		return opensEscape(r)
	}
	b, ok := runeByte(r)
	if !ok || !utf8Lead(b) {
		return false
	}
	if rest == "" { // of a text that was cut the rest may be missing
		return true
	}
	next, _ := decodeRune(rest)
	b, ok = runeByte(next)
	return opensEscape(next) || ok && !utf8.RuneStart(b)
}

func utf8Lead(b byte) bool { return b >= 0xC2 && b <= 0xF4 }

// escapesLength returns how many bytes from the beginning of an escape on can belong to it and to others
// that touch it.
func escapesLength(text string) int {
	for i, c := range []byte(text) {
		switch {
		case c >= utf8.RuneSelf, alphanumeric(rune(c)), opensEscape(rune(c)), strings.IndexByte("#;{}", c) >= 0:
		default:
			return i
		}
	}
	return len(text)
}

func alphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// read finds the readings of a text. It reports whether it found all.
func (e *escapes) read(text string) bool {
	e.readings, e.chars = e.readings[:0], e.chars[:0]
	e.first = slices.Grow(e.first[:0], len(text))[:len(text)]
	for i := range e.first {
		e.first[i] = -1
	}
	for i := 0; i < len(text); {
		r, size := decodeRune(text[i:])
		e.chars = append(e.chars, char{r, i, i + size})
		i += size
		e.add(len(e.chars)-1, len(e.chars), r)
	}
	for range deepest {
		if !e.resolve() {
			return true
		}
		e.chars, e.resolved = e.resolved, e.chars
	}
	return false
}

// add notes that the characters from one to before another can stand for r.
func (e *escapes) add(from, to int, r rune) {
	start, end := e.chars[from].start, e.chars[to-1].end
	e.readings = append(e.readings, reading{letterOf(r), end, e.first[start]})
	e.first[start] = int32(len(e.readings) - 1) //nolint:gosec // a text has fewer bytes
}

// resolve resolves the escapes once. It reports whether there were any.
func (e *escapes) resolve() (found bool) {
	e.resolved = e.resolved[:0]
	for at := 0; at < len(e.chars); {
		c := e.chars[at]
		r, size := e.escape(at)
		switch {
		case size > 0:
			found = true
			e.resolved = append(e.resolved, char{r, c.start, e.chars[at+size-1].end})
			at += size
			continue
		case c.r == '\\' && e.at(at+1) == '\\': // of backslashes that escape one another the last one counts
		default:
			e.resolved = append(e.resolved, c)
		}
		at++
	}
	return found
}

// at returns a character, and -1 after the last one.
func (e *escapes) at(i int) rune {
	if i < len(e.chars) {
		return e.chars[i].r
	}
	return -1
}

// escape adds what the escape that begins with a character can stand for, and returns what most readers
// take it for and how many characters that takes: 0 where there is none.
func (e *escapes) escape(at int) (r rune, size int) {
	switch c := e.chars[at].r; {
	case c == '\\':
		return e.backslash(at)
	case c == '%':
		if e.at(at+1)|0x20 == 'u' { // JavaScript's escape()
			return e.number(at, at+2, 16, 4, 4)
		}
		return e.number(at, at+1, 16, 2, 2)
	case c == '&' && e.at(at+1) == '#':
		if e.at(at+2)|0x20 == 'x' {
			return e.semicolon(at, at+3, 16)
		}
		return e.semicolon(at, at+2, 10)
	case c == '&':
		return e.named(at)
	case c >= utf8.RuneSelf:
		return e.joined(at)
	}
	return 0, 0
}

// backslash reads the escapes of JSON and of programming languages. Before any other character a backslash
// is a letter that can be left out.
func (e *escapes) backslash(at int) (r rune, size int) {
	switch c := e.at(at + 1); c {
	case 'u', 'U', 'x', 'X':
		if e.at(at+2) == '{' {
			if r, size = e.number(at, at+3, 16, 1, len(e.chars)); e.at(at+size) != '}' {
				return 0, 0
			}
			e.add(at, at+size+1, r)
			return r, size + 1
		}
		if c|0x20 == 'x' {
			_, _ = e.number(at, at+2, 16, 3, 4) // C# takes up to four digits
			return e.number(at, at+2, 16, 1, 2)
		}
		r, size = e.number(at, at+2, 16, 4, 4)
		if long, n := e.number(at, at+2, 16, 8, 8); n > 0 && c == 'U' {
			return long, n
		}
		return r, size
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return e.number(at, at+1, 8, 1, 3)
	case 'n', 'N', 't', 'T', 'r', 'R', 'f', 'F', 'v', 'V':
		e.add(at, at+2, '\n')
		return '\n', 2
	case 'a', 'A', 'b', 'B', 'e', 'E':
		e.add(at, at+2, '\a')
		return '\a', 2
	}
	return 0, 0
}

// number reads a number of least to most digits that stands for a character. It adds the reading of each
// number of digits, since what follows may be a digit of its own.
func (e *escapes) number(from, digits int, base rune, least, most int) (r rune, size int) {
	for n := 1; n <= most; n++ {
		c := e.at(digits + n - 1)
		digit := base
		switch {
		case '0' <= c && c <= '9':
			digit = c - '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			digit = c | 0x20 - 'a' + 10
		}
		if digit >= base {
			break
		}
		r = min(r*base+digit, utf8.MaxRune+1)
		if n < least || r > utf8.MaxRune {
			continue
		}
		size = digits + n - from
		e.add(from, from+size, r)
		if r >= 0x80 && r < 0xA0 { // the byte of a page in Windows-1252, or a control
			e.add(from, from+size, Windows1252(byte(r)))
		}
	}
	return r, size
}

// semicolon reads the number of an HTML reference, and the semicolon that browsers can do without.
func (e *escapes) semicolon(from, digits int, base rune) (r rune, size int) {
	r, size = e.number(from, digits, base, 1, len(e.chars))
	if size > 0 && e.at(from+size) == ';' {
		size++
		e.add(from, from+size, r)
	}
	return r, size
}

// named reads an HTML reference by name.
func (e *escapes) named(from int) (r rune, size int) {
	const longest = len("&CounterClockwiseContourIntegral")
	var name [longest + 1]byte
	size = 1
	for name[0] = '&'; size < longest && alphanumeric(e.at(from+size)); size++ {
		name[size] = byte(e.at(from + size)) //nolint:gosec // alphanumeric
	}
	if size == 1 {
		return 0, 0
	}
	if e.at(from+size) == ';' {
		name[size] = ';'
		size++
	}
	found, known := e.references[string(name[:size])]
	if !known {
		found = htmlReference(string(name[:size]))
		e.remember(string(name[:size]), found)
	}
	if found.size == 0 {
		return 0, 0
	}
	e.add(from, from+found.size, found.r)
	if name[found.size-1] == ';' { // browsers know many names without it
		e.add(from, from+found.size-1, found.r)
	}
	return found.r, found.size
}

// remember notes what a name stands for, unless there are very many.
func (e *escapes) remember(name string, found reference) {
	const most = 256
	if e.references == nil {
		e.references = map[string]reference{}
	}
	if len(e.references) < most {
		e.references[name] = found
	}
}

// htmlReference returns what a text stands for that begins with an HTML reference, also where it is in
// capitals.
func htmlReference(text string) reference {
	found := exactReference(text)
	if found.size == 0 {
		if small := strings.ToLower(text); small != text {
			found = exactReference(small)
		}
	}
	return found
}

// exactReference is htmlReference of a text as it stands. Of the few references that stand for two
// characters it returns the first.
func exactReference(text string) reference {
	read := html.UnescapeString(text)
	if read == text {
		return reference{}
	}
	r, size := utf8.DecodeRuneInString(read)
	if rest := read[size:]; strings.HasSuffix(text, rest) {
		return reference{r, len(text) - len(rest)}
	}
	return reference{r, len(text)}
}

// joined reads what stands in pieces: the bytes of UTF-8, and the halves of UTF-16.
func (e *escapes) joined(from int) (r rune, size int) {
	if r = utf16.DecodeRune(e.at(from), e.at(from+1)); r != utf8.RuneError {
		e.add(from, from+2, r)
		return r, 2
	}
	var sequence [utf8.UTFMax]byte
	n := 0
	for n < len(sequence) {
		b, ok := runeByte(e.at(from + n))
		if !ok || n == 0 && !utf8Lead(b) || n > 0 && utf8.RuneStart(b) {
			break
		}
		sequence[n] = b
		n++
	}
	if r, size = utf8.DecodeRune(sequence[:n]); size < 2 {
		return 0, 0
	}
	e.add(from, from+size, r)
	return r, size
}
