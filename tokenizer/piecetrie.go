package tokenizer

import (
	"bytes"
	"slices"
)

// pieceTrie walks a vocabulary byte by byte. It is a double array: the child of node n for byte c is at base[n]+c and
// belongs to n if check there says so.
type pieceTrie struct {
	base  []int32
	check []int32
	ids   []uint32 // id of the token that ends at a node, else noID
}

func newPieceTrie(v *vocab) *pieceTrie {
	order := make([]uint32, 0, len(v.entries))
	for i, e := range v.entries {
		if e.size > 0 {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(v.entryText(int(a)), v.entryText(int(b))) })
	t := &pieceTrie{}
	t.reserve(1 << 10)
	t.check[0] = 0
	t.place(v, order)
	return t
}

func (t *pieceTrie) root() int { return 0 }

// step returns the child of node for c, or -1.
func (t *pieceTrie) step(node int, c byte) int {
	next := int(t.base[node]) + int(c) + 1
	if next < len(t.check) && int(t.check[next]) == node {
		return next
	}
	return -1
}

func (t *pieceTrie) reserve(n int) {
	for len(t.check) < n {
		t.base = append(t.base, 0)
		t.check = append(t.check, -1)
		t.ids = append(t.ids, noID)
	}
}

// job is a node whose children are still to be placed: the sorted entries from..to share depth bytes.
type trieJob struct{ node, from, to, depth int }

func (t *pieceTrie) place(v *vocab, order []uint32) {
	jobs := []trieJob{{0, 0, len(order), 0}}
	free := 1 // below it nothing is free
	var labels []byte
	var starts []int
	for len(jobs) > 0 {
		j := jobs[len(jobs)-1]
		jobs = jobs[:len(jobs)-1]
		for j.from < j.to && len(v.entryText(int(order[j.from]))) == j.depth {
			t.ids[j.node] = v.entries[order[j.from]].id
			j.from++
		}
		labels, starts = labels[:0], starts[:0]
		for i := j.from; i < j.to; i++ {
			c := v.entryText(int(order[i]))[j.depth]
			if len(labels) == 0 || labels[len(labels)-1] != c {
				labels, starts = append(labels, c), append(starts, i)
			}
		}
		if len(labels) == 0 {
			continue
		}
		for free < len(t.check) && t.check[free] != -1 {
			free++
		}
		base := t.fit(labels, free)
		t.base[j.node] = int32(base)
		starts = append(starts, j.to)
		for i, c := range labels {
			kid := base + int(c) + 1
			t.check[kid] = int32(j.node)
			jobs = append(jobs, trieJob{kid, starts[i], starts[i+1], j.depth + 1})
		}
	}
}

// fit finds a base at which all labels fall on free places. After some misses it skips ahead, so that building stays
// near-linear at the price of a few holes.
func (t *pieceTrie) fit(labels []byte, free int) int {
	base := max(0, free-int(labels[0])-1)
	for tries := 0; ; tries++ {
		t.reserve(base + 257)
		ok := true
		for _, c := range labels {
			if t.check[base+int(c)+1] != -1 {
				ok = false
				break
			}
		}
		if ok {
			return base
		}
		if base++; tries > 64 {
			base += len(labels) + tries/16
		}
	}
}
