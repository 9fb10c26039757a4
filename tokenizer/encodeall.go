package tokenizer

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// EncodeAll returns the ids of each text, in the order of texts, as [Tokenizer.Encode] gives them. It uses all cores
// (GOMAXPROCS). An error is that of the first text, by place, that has one; the ids of those before it come with it.
func (t *Tokenizer) EncodeAll(texts []string, special bool) ([][]uint32, error) {
	ids := make([][]uint32, len(texts))
	errs := make([]error, len(texts))
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(texts) {
				return
			}
			ids[i], errs[i] = t.Encode(texts[i], special)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return ids[:i], err
		}
	}
	return ids, nil
}
