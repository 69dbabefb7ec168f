package padron

// placeRange is a range of sorted places, of which the least is at index at.
type placeRange struct {
	place  uint32
	places *sortedPlaces
	at     int
	l, r   int
}

// placeRanges gives the places of ranges in growing order: a heap by the least place of each.
type placeRanges []placeRange

// add adds a range.
func (h *placeRanges) add(p *sortedPlaces, l, r int) {
	if l >= r {
		return
	}
	at := p.least(l, r)
	*h = append(*h, placeRange{p[0].at(at), p, at, l, r})
	s := *h
	for child := len(s) - 1; child > 0; {
		parent := (child - 1) / 2
		if s[parent].place <= s[child].place {
			break
		}
		s[parent], s[child] = s[child], s[parent]
		child = parent
	}
}

// next takes the least place of all, and returns it with its list.
func (h *placeRanges) next() (place uint32, of *sortedPlaces, ok bool) {
	s := *h
	if len(s) == 0 {
		return 0, nil, false
	}
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	*h = s[:last]
	h.sink()
	h.add(top.places, top.l, top.at)
	h.add(top.places, top.at+1, top.r)
	return top.place, top.places, true
}

// sink moves the first placeRange down to its place.
func (h placeRanges) sink() {
	for parent := 0; ; {
		child := 2*parent + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].place < h[child].place {
			child++
		}
		if h[parent].place <= h[child].place {
			return
		}
		h[parent], h[child] = h[child], h[parent]
		parent = child
	}
}
