package tokenizer

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
)

// merge is one merge of a BPE model: the two ids and the id of what they make.
type merge struct{ left, right, result uint32 }

// mergeText is where the two texts of a merge lie: in the file, or in a side buffer if they had escapes.
type mergeText struct {
	a, b []byte
}

// readMerges reads ["a b", …] or [["a","b"], …] and looks the texts up. The right part loses its first prefixLen
// bytes where two tokens are joined.
func readMerges(s *jsonScan, v *vocab, prefixLen int) ([]merge, error) {
	var texts []mergeText
	if err := s.expect('['); err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		ok, err := s.more(']', first)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		t, skip, err := readMerge(s, len(texts))
		if err != nil {
			return nil, err
		}
		if !skip {
			texts = append(texts, t)
		}
	}
	return resolveMerges(texts, v, prefixLen)
}

func readMerge(s *jsonScan, n int) (t mergeText, skip bool, err error) {
	if s.peek() == '[' {
		s.pos++
		if t.a, err = s.keep(); err != nil {
			return t, false, err
		}
		if err = s.expect(','); err != nil {
			return t, false, err
		}
		if t.b, err = s.keep(); err != nil {
			return t, false, err
		}
		return t, false, s.expect(']')
	}
	line, err := s.keep()
	if err != nil {
		return t, false, err
	}
	if bytes.HasPrefix(line, []byte("#version")) {
		return t, true, nil
	}
	i := bytes.IndexByte(line, ' ')
	if i < 0 || bytes.IndexByte(line[i+1:], ' ') >= 0 {
		return t, false, fmt.Errorf("merge %d is %q; two tokens with one space between them expected", n+1, clip(line))
	}
	return mergeText{line[:i], line[i+1:]}, false, nil
}

// keep is str for a result that outlives the next call.
func (s *jsonScan) keep() ([]byte, error) {
	b, err := s.str()
	if err == nil && len(b) > 0 && len(s.buf) > 0 && &b[0] == &s.buf[0] {
		b = bytes.Clone(b)
	}
	return b, err
}

// resolveMerges looks up the texts on all cores.
func resolveMerges(texts []mergeText, v *vocab, prefixLen int) ([]merge, error) {
	out := make([]merge, len(texts))
	parts := max(1, min(runtime.GOMAXPROCS(0), len(texts)/10000))
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for p := range parts {
		from, to := len(texts)*p/parts, len(texts)*(p+1)/parts
		wg.Go(func() { errs[p] = resolvePart(out[from:to], texts[from:to], v, prefixLen, from) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func resolvePart(out []merge, texts []mergeText, v *vocab, prefixLen, from int) error {
	var joined []byte
	guess := 0 // files list merges in the order of their results
	for i, t := range texts {
		a, okA := v.id(t.a)
		b, okB := v.id(t.b)
		if !okA || !okB || len(t.b) < prefixLen {
			bad := t.a
			if okA {
				bad = t.b
			}
			return fmt.Errorf("merge %d uses %q, which is not in the vocabulary", from+i+1, clip(bad))
		}
		joined = append(append(joined[:0], t.a...), t.b[prefixLen:]...)
		e, ok := v.near(guess, joined)
		if !ok {
			if e, ok = v.find(joined); !ok {
				return fmt.Errorf("merge %d makes %q, which is not in the vocabulary", from+i+1, clip(joined))
			}
		}
		guess = e
		out[i] = merge{a, b, v.entries[e].id}
	}
	return nil
}

// near looks for a text at entry i and behind it.
func (v *vocab) near(i int, t []byte) (int, bool) {
	for end := min(i+2, len(v.entries)); i < end; i++ {
		if bytes.Equal(v.entryText(i), t) {
			return i, true
		}
	}
	return 0, false
}
