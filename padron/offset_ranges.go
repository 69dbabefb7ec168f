package padron

// offsetRange is a range of sorted offsets. Its least offset is at index at.
type offsetRange struct {
	offset  uint32
	offsets *sortedOffsets
	at      int
	l, r    int
}

// offsetRanges yields the offsets of ranges in increasing order: a heap by the least offset of each.
type offsetRanges []offsetRange

// add adds a range.
func (h *offsetRanges) add(p *sortedOffsets, l, r int) {
	if l >= r {
		return
	}
	at := p.least(l, r)
	*h = append(*h, offsetRange{p[0].at(at), p, at, l, r})
	s := *h
	for child := len(s) - 1; child > 0; {
		parent := (child - 1) / 2
		if s[parent].offset <= s[child].offset {
			break
		}
		s[parent], s[child] = s[child], s[parent]
		child = parent
	}
}

// next removes the least offset of all, and returns it with its list.
func (h *offsetRanges) next() (offset uint32, of *sortedOffsets, ok bool) {
	s := *h
	if len(s) == 0 {
		return 0, nil, false
	}
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	*h = s[:last]
	h.sink()
	h.add(top.offsets, top.l, top.at)
	h.add(top.offsets, top.at+1, top.r)
	return top.offset, top.offsets, true
}

// sink moves the first range down to its place in the heap.
func (h offsetRanges) sink() {
	for parent := 0; ; {
		child := 2*parent + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].offset < h[child].offset {
			child++
		}
		if h[parent].offset <= h[child].offset {
			return
		}
		h[parent], h[child] = h[child], h[parent]
		parent = child
	}
}
