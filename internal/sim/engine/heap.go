package engine

// seqHeap is a binary heap of requests by their heapAt instant, then by ID.
type seqHeap []*Seq

func (h seqHeap) less(i, j int) bool {
	return h[i].heapAt < h[j].heapAt || h[i].heapAt == h[j].heapAt && h[i].ID < h[j].ID
}

func (h *seqHeap) push(s *Seq) {
	*h = append(*h, s)
	h.up(len(*h) - 1)
}

func (h *seqHeap) pop() *Seq { return h.take(0) }

func (h *seqHeap) remove(s *Seq) {
	for i, o := range *h {
		if o == s {
			h.take(i)
			return
		}
	}
}

func (h *seqHeap) take(i int) *Seq {
	list := *h
	s, last := list[i], len(list)-1
	list[i] = list[last]
	list[last] = nil
	*h = list[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
	return s
}

func (h seqHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (h seqHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
