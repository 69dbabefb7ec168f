package quota

import "container/list"

// waiting are the attempts that wait, by the reserve that they keep. What is decided of one goes for all with
// the same reserve, so only the first of them is asked about, and only those are woken of whom it is decided.
type waiting map[int]*list.List // of chan decision

// decision is what an attempt that asks to leave is told.
type decision struct {
	ticket  Ticket
	refusal error // nil where it may leave
}

// place is where an attempt waits.
type place struct {
	reserve int
	told    chan decision // gets what is decided of it
	element *list.Element
}

// join adds an attempt that keeps reserve, after those that wait already.
func (w waiting) join(reserve int) *place {
	if w[reserve] == nil {
		w[reserve] = list.New()
	}
	told := make(chan decision, 1)
	return &place{reserve, told, w[reserve].PushBack(told)}
}

// leave takes away an attempt that waits no more, unless it was decided about meanwhile.
func (w waiting) leave(p *place) (d decision, decided bool) {
	select {
	case d = <-p.told:
		return d, true
	default:
	}
	if w[p.reserve].Remove(p.element); w[p.reserve].Len() == 0 {
		delete(w, p.reserve)
	}
	return decision{}, false
}

// tell tells those of whom it can be decided now.
func (w waiting) tell(decide func(reserve int) (d decision, decided bool)) {
	for reserve, queue := range w {
		for first := queue.Front(); first != nil; first = queue.Front() {
			d, decided := decide(reserve)
			if !decided {
				break
			}
			queue.Remove(first).(chan decision) <- d
		}
		if queue.Len() == 0 {
			delete(w, reserve)
		}
	}
}
