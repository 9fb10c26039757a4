package tokenizer

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"runtime"
	"sync"
)

// merge is one merge of a BPE model: the two ids and the id of what they make, each of pairIDBits, packed since a large
// model has half a million.
type merge uint64

func newMerge(left, right, result uint32) merge {
	return merge(left)<<(2*pairIDBits) | merge(right)<<pairIDBits | merge(result)
}

func (m merge) left() uint32   { return uint32(m >> (2 * pairIDBits)) }
func (m merge) right() uint32  { return uint32(m>>pairIDBits) & maxTokenID }
func (m merge) result() uint32 { return uint32(m) & maxTokenID }

// textSpan is where a text lies: in the file, or, if it had escapes, in a side buffer.
type textSpan struct {
	off, size uint32
}

const inSide = 1 << 31 // set in size

// mergeBatch is a part of the list on its way from the reader to the lookups. texts holds two spans for each merge.
type mergeBatch struct {
	first int
	texts []textSpan
	side  []byte
}

const mergeBatchLen = 512

// readMerges reads ["a b", …] or [["a","b"], …] and looks the texts up while it goes on reading. The right part loses
// its first prefixLen bytes where two tokens are joined. The merges come in parts, which lie one after the other.
func readMerges(s *jsonScan, v *vocab, prefixLen int) ([][]merge, error) {
	r := &mergeReader{s: s, v: v, prefixLen: prefixLen, work: make(chan mergeBatch, 8), spare: make(chan []textSpan, 8)}
	var wg sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		wg.Go(r.resolve)
	}
	err := r.read()
	close(r.work)
	wg.Wait()
	if err != nil {
		return nil, err
	}
	return r.parts, r.err
}

// mergeReader joins the one that reads and those who look up.
type mergeReader struct {
	s         *jsonScan
	v         *vocab
	prefixLen int
	work      chan mergeBatch
	spare     chan []textSpan // of batches that are done

	mu    sync.Mutex
	parts [][]merge // by number of the batch
	err   error     // of the earliest merge that failed
	bad   int
}

func (r *mergeReader) read() error {
	if err := r.s.expect('['); err != nil {
		return err
	}
	b := r.batch(0)
	for first := true; ; first = false {
		ok, err := r.s.more(']', first)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := r.one(&b); err != nil {
			return err
		}
		if len(b.texts) == 2*mergeBatchLen {
			r.work <- b
			b = r.batch(b.first + mergeBatchLen)
		}
	}
	r.work <- b
	return nil
}

// batch returns an empty batch that begins with merge number first.
func (r *mergeReader) batch(first int) mergeBatch {
	select {
	case texts := <-r.spare:
		return mergeBatch{first: first, texts: texts[:0]}
	default:
		return mergeBatch{first: first, texts: make([]textSpan, 0, 2*mergeBatchLen)}
	}
}

// one reads one merge.
func (r *mergeReader) one(b *mergeBatch) error {
	if r.s.peek() == '[' {
		r.s.pos++
		if err := r.text(b); err != nil {
			return err
		}
		if err := r.s.expect(','); err != nil {
			return err
		}
		if err := r.text(b); err != nil {
			return err
		}
		return r.s.expect(']')
	}
	if err := r.text(b); err != nil {
		return err
	}
	whole := b.texts[len(b.texts)-1]
	b.texts = b.texts[:len(b.texts)-1]
	line := r.bytes(b, whole)
	if bytes.HasPrefix(line, []byte("#version")) {
		return nil
	}
	i := bytes.IndexByte(line, ' ')
	if i < 0 || bytes.IndexByte(line[i+1:], ' ') >= 0 {
		return fmt.Errorf("merge %d is %q; two tokens with one space between them expected", b.first+len(b.texts)/2+1, clip(line))
	}
	side := whole.size & inSide
	left, right := textSpan{whole.off, uint32(i) | side}, textSpan{whole.off + uint32(i) + 1, uint32(len(line)-i-1) | side}
	b.texts = append(b.texts, left, right)
	return nil
}

// text reads a string and keeps where it lies.
func (r *mergeReader) text(b *mergeBatch) error {
	t, err := r.s.str()
	if err != nil {
		return err
	}
	if r.s.plain {
		b.texts = append(b.texts, textSpan{uint32(r.s.pos - 1 - len(t)), uint32(len(t))})
		return nil
	}
	b.texts = append(b.texts, textSpan{uint32(len(b.side)), uint32(len(t)) | inSide})
	b.side = append(b.side, t...)
	return nil
}

func (r *mergeReader) bytes(b *mergeBatch, t textSpan) []byte {
	n := t.size &^ inSide
	if t.size&inSide != 0 {
		return b.side[t.off : t.off+n]
	}
	return r.s.data[t.off : t.off+n]
}

// resolve looks up batches until there are no more.
func (r *mergeReader) resolve() {
	var l lookups
	for b := range r.work {
		part := make([]merge, len(b.texts)/2)
		bad, err := l.resolve(r, &b, part)
		r.mu.Lock()
		i := b.first / mergeBatchLen
		for len(r.parts) <= i {
			r.parts = append(r.parts, nil)
		}
		r.parts[i] = part
		if err != nil && (r.err == nil || bad < r.bad) {
			r.err, r.bad = err, bad
		}
		r.mu.Unlock()
		select {
		case r.spare <- b.texts:
		default:
		}
	}
}

// lookups finds many texts at once, step by step for all, so that the waits for memory overlap.
type lookups struct {
	hash   [2 * mergeBatchLen]uint64
	entry  [2 * mergeBatchLen]uint32 // index + 1 of the first candidate, 0 for none
	joined []byte
	guess  int // files list merges in the order of their results
}

func (l *lookups) resolve(r *mergeReader, b *mergeBatch, out []merge) (bad int, err error) {
	v := r.v
	if len(v.slots) == 0 && len(out) > 0 {
		return b.first, fmt.Errorf("there are merges and no vocabulary")
	}
	for i, t := range b.texts {
		l.hash[i] = maphash.Bytes(v.seed, r.bytes(b, t))
	}
	mask := uint64(len(v.slots) - 1)
	for i := range b.texts {
		l.entry[i] = 0
		if s := v.slots[l.hash[i]&mask]; s>>32 == l.hash[i]>>32 {
			l.entry[i] = uint32(s)
		}
	}
	for i := range out {
		left, okA := l.id(r, b, 2*i)
		right, okB := l.id(r, b, 2*i+1)
		a, c := r.bytes(b, b.texts[2*i]), r.bytes(b, b.texts[2*i+1])
		if !okA || !okB || len(c) < r.prefixLen {
			if okA {
				a = c
			}
			return b.first + i, fmt.Errorf("merge %d uses %q, which is not in the vocabulary", b.first+i+1, clip(a))
		}
		l.joined = append(append(l.joined[:0], a...), c[r.prefixLen:]...)
		e, ok := v.near(l.guess, l.joined)
		if !ok {
			if e, ok = v.find(l.joined); !ok {
				return b.first + i, fmt.Errorf("merge %d makes %q, which is not in the vocabulary", b.first+i+1, clip(l.joined))
			}
		}
		l.guess = e
		out[i] = newMerge(left, right, v.entries[e].id)
	}
	return 0, nil
}

// id finishes the lookup of text i.
func (l *lookups) id(r *mergeReader, b *mergeBatch, i int) (uint32, bool) {
	t := r.bytes(b, b.texts[i])
	if e := l.entry[i]; e > 0 && bytes.Equal(r.v.entryText(int(e-1)), t) {
		return r.v.entries[e-1].id, true
	}
	return r.v.id(t)
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
