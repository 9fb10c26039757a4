package tokenizer

// scratch holds the working memory of one encoder for merging.
type scratch struct {
	ids   []uint32
	ranks []uint32
	next  []int32
	prev  []int32
	heap  []uint64
	spell []byte
	path  []pathNode
	cuts  []int
}

// heapFrom is the number of symbols from which a heap is used instead of a search for the smallest rank.
const heapFrom = 48

// merge joins the symbols in ids until no pair has a rank, lowest rank first and leftmost of equal ranks, and returns
// what is left. ranks[i] is the rank of (ids[i], ids[i+1]) and has one element less.
func (m *merges) merge(s *scratch, ids, ranks []uint32) []uint32 {
	if len(ids) >= heapFrom {
		return m.mergeHeap(s, ids, ranks)
	}
	n := len(ranks)
	ids, ranks = ids[:n+1], ranks[:n]
	for n > 0 {
		best, at := ranks[0], 0
		for i := 1; i < n; i++ {
			if ranks[i] < best {
				best, at = ranks[i], i
			}
		}
		if best == noRank {
			break
		}
		n--
		ids[at] = m.result[best]
		for i := at + 1; i <= n; i++ { // too short for copy to pay
			ids[i] = ids[i+1]
		}
		for i := at; i < n; i++ {
			ranks[i] = ranks[i+1]
		}
		if at < n {
			ranks[at] = m.pairs.rank(ids[at], ids[at+1])
		}
		if at > 0 {
			ranks[at-1] = m.pairs.rank(ids[at-1], ids[at])
		}
	}
	return ids[:n+1]
}

// mergeHeap does the same for long words in n log n: a heap of (rank, place) over a linked list. An entry is stale
// when the pair at its place has another rank by now.
func (m *merges) mergeHeap(s *scratch, ids, ranks []uint32) []uint32 {
	n := len(ids)
	s.next, s.prev = resize(s.next, n), resize(s.prev, n)
	next, prev := s.next, s.prev
	heap := s.heap[:0]
	for i := range n {
		next[i], prev[i] = int32(i+1), int32(i-1)
		if i < n-1 && ranks[i] != noRank {
			heap = append(heap, uint64(ranks[i])<<32|uint64(i))
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		siftDown(heap, i)
	}
	for len(heap) > 0 {
		top := heap[0]
		last := len(heap) - 1
		heap[0] = heap[last]
		heap = heap[:last]
		siftDown(heap, 0)
		rank, at := uint32(top>>32), int(uint32(top))
		if at >= len(ranks) || ranks[at] != rank {
			continue
		}
		right := int(next[at])
		ids[at] = m.result[rank]
		next[at] = next[right]
		if right < len(ranks) {
			ranks[right] = noRank
		}
		ranks[at] = noRank
		if after := int(next[at]); after < n {
			prev[after] = int32(at)
			heap = m.push(heap, ids, ranks, at, after)
		}
		if before := int(prev[at]); before >= 0 {
			heap = m.push(heap, ids, ranks, before, at)
		}
	}
	s.heap = heap
	w := 0
	for i := 0; i < n; i = int(next[i]) {
		ids[w] = ids[i]
		w++
	}
	return ids[:w]
}

// push sets the rank of the pair at a and puts it on the heap if it has one.
func (m *merges) push(heap []uint64, ids, ranks []uint32, a, b int) []uint64 {
	rank := m.pairs.rank(ids[a], ids[b])
	ranks[a] = rank
	if rank == noRank {
		return heap
	}
	heap = append(heap, uint64(rank)<<32|uint64(a))
	for i := len(heap) - 1; i > 0; {
		up := (i - 1) / 2
		if heap[up] <= heap[i] {
			break
		}
		heap[up], heap[i] = heap[i], heap[up]
		i = up
	}
	return heap
}

func siftDown(heap []uint64, i int) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && heap[c+1] < heap[c] {
			c++
		}
		if heap[i] <= heap[c] {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n+n/4)[:n]
	}
	return s[:n]
}
