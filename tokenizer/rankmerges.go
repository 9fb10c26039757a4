package tokenizer

import (
	"fmt"
	"runtime"
	"sync"
	"unicode/utf8"
)

// Rank files, tekken.json and SentencePiece models do not list merges. They rank tokens, and two neighbours are
// joined if what they make is a token, the best ranked first. That is a merge list with one merge for every way to
// cut a token into two others, all with the token's rank.

// rankedMost bounds the bytes of a ranked token: finding its cuts takes the square of them. The longest known has 256.
const rankedMost = 1 << 10

// splitMerge is one such merge.
type splitMerge struct{ left, right, rank uint32 }

// rankMerges makes the merges of the tokens in order, best first: indexes into v.entries.
func rankMerges(v *vocab, order []int) (merges, error) {
	for _, i := range order {
		if t := v.entryText(i); len(t) > rankedMost {
			return merges{}, fmt.Errorf("token %q has %d bytes; a ranked token of more than %d is not supported", clip(t), len(t), rankedMost)
		}
	}
	parts := max(1, min(runtime.GOMAXPROCS(0), len(order)/5000))
	found := make([][]splitMerge, parts)
	var wg sync.WaitGroup
	for p := range parts {
		from, to := len(order)*p/parts, len(order)*(p+1)/parts
		wg.Go(func() { found[p] = cutTokens(v, order, from, to) })
	}
	wg.Wait()
	n := 0
	for _, f := range found {
		n += len(f)
	}
	pairs, err := newPairTable(max(n, len(order)))
	if err != nil {
		return merges{}, err
	}
	for _, f := range found {
		for _, m := range f {
			pairs.set(m.left, m.right, m.rank)
		}
	}
	m := merges{pairs: pairs, result: make([]uint32, len(order))}
	for rank, i := range order {
		m.result[rank] = v.entries[i].id
	}
	return m, nil
}

func cutTokens(v *vocab, order []int, from, to int) []splitMerge {
	var out []splitMerge
	for rank := from; rank < to; rank++ {
		t := v.entryText(order[rank])
		for i := 0; i < len(t); {
			_, size := utf8.DecodeRune(t[i:])
			if i += size; i >= len(t) {
				break
			}
			left, ok := v.id(t[:i])
			if !ok {
				continue
			}
			if right, ok := v.id(t[i:]); ok {
				out = append(out, splitMerge{left, right, uint32(rank)})
			}
		}
	}
	return out
}

// newRankBPE builds a BPE model whose tokens are ranked in order.
func newRankBPE(m *bpe, order []int) (*bpe, error) {
	var err error
	if m.merges, err = rankMerges(m.voc, order); err != nil {
		return nil, err
	}
	m.setChars()
	m.bytes = m.newByteBPE()
	return m, nil
}
