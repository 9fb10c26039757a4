package tokenizer

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// readPieces reads [["token", score], …]; ids are places in the list.
func readPieces(s *jsonScan) (*vocab, []float64, error) {
	v := newVocab(1 << 12)
	v.list = true
	scores := []float64{}
	if err := s.expect('['); err != nil {
		return nil, nil, err
	}
	for first := true; ; first = false {
		ok, err := s.more(']', first)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			break
		}
		score, err := readPiece(s, v)
		if err != nil {
			return nil, nil, err
		}
		scores = append(scores, score)
	}
	v.build()
	return v, scores, nil
}

func readPiece(s *jsonScan, v *vocab) (float64, error) {
	if err := s.expect('['); err != nil {
		return 0, err
	}
	text, err := s.str()
	if err != nil {
		return 0, err
	}
	if err := v.add(text, uint64(len(v.entries))); err != nil {
		return 0, err
	}
	if err := s.expect(','); err != nil {
		return 0, err
	}
	num, err := s.number()
	if err != nil {
		return 0, err
	}
	score, ok := parseScore(num)
	if !ok {
		return 0, s.fail("score %q is not a number", clip(num))
	}
	return score, s.expect(']')
}

// unigram picks the tokens whose scores sum to the most.
type unigram struct {
	voc      *vocab
	scores   []float64
	unk      uint32 // noID if there is none
	unkScore float64
	narrow   bool // sums are rounded to 32 bits, as SentencePiece does; it decides between equal paths
	fallback *[256]uint32
	trie     *pieceTrie
}

// unkPenalty is how much less than the worst token an unknown character scores.
const unkPenalty = 10

func newUnigram(d *modelData) (model, error) {
	if d.scores == nil {
		return nil, fmt.Errorf("the Unigram model's vocabulary has no scores")
	}
	m := &unigram{voc: d.vocab, scores: d.scores, unk: noID}
	if d.spec.UnkID != nil {
		if *d.spec.UnkID >= uint64(len(d.scores)) {
			return nil, fmt.Errorf("unk_id %d is outside the vocabulary of %d", *d.spec.UnkID, len(d.scores))
		}
		m.unk = uint32(*d.spec.UnkID)
	}
	worst := math.Inf(1)
	for _, s := range d.scores {
		worst = min(worst, s)
	}
	m.unkScore = worst - unkPenalty
	if d.spec.ByteFallback {
		m.fallback = fallbackIDs(d.vocab)
	}
	m.trie = newPieceTrie(d.vocab)
	return m, nil
}

func (m *unigram) vocabulary() *vocab { return m.voc }

func (m *unigram) hash(w hashWriter) {
	fmt.Fprintf(w, "unigram %d %v\n", m.unk, m.fallback != nil)
	var b [8]byte
	for _, s := range m.scores {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(s))
		w.Write(b[:])
	}
}

// pathNode is the best way to the place it stands for.
type pathNode struct {
	score float64
	from  int32 // -1 while none is known
	id    uint32
}

func (m *unigram) appendWord(s *scratch, dst []uint32, word string) ([]uint32, error) {
	s.path = resize(s.path, len(word)+1)
	path := s.path
	for i := range path {
		path[i].from = -1
	}
	path[0].score = 0
	for at := 0; at < len(word); {
		_, size := utf8.DecodeRuneInString(word[at:])
		here := path[at].score
		single := false
		node := m.trie.root()
		for i := at; i < len(word); i++ {
			if node = m.trie.step(node, word[i]); node < 0 {
				break
			}
			id := m.trie.ids[node]
			if id == noID {
				continue
			}
			if sum := m.kept(here + m.scores[id]); path[i+1].from < 0 || sum > path[i+1].score {
				path[i+1] = pathNode{sum, int32(at), id}
			}
			single = single || i+1-at == size
		}
		if !single {
			if sum := m.kept(here + m.unkScore); path[at+size].from < 0 || sum > path[at+size].score {
				if m.unk == noID {
					return dst, fmt.Errorf("%q is not in the vocabulary and the Unigram model has no unk_id", word[at:at+size])
				}
				path[at+size] = pathNode{sum, int32(at), m.unk}
			}
		}
		at += size
	}
	return m.appendPath(s, dst, word, path)
}

func (m *unigram) kept(sum float64) float64 {
	if m.narrow {
		return float64(float32(sum))
	}
	return sum
}

// appendPath walks the best path back and appends its ids. Neighbouring unknown characters count as one text, which
// is looked up again: it may be the unknown token's own text, and may have byte tokens.
func (m *unigram) appendPath(s *scratch, dst []uint32, word string, path []pathNode) ([]uint32, error) {
	s.cuts = s.cuts[:0]
	for end := len(word); end > 0; {
		n := path[end]
		from := int(n.from)
		if n.id == m.unk {
			for from > 0 && path[from].id == m.unk && path[from].from >= 0 {
				from = int(path[from].from)
			}
		}
		s.cuts = append(s.cuts, end, from)
		end = from
	}
	for i := len(s.cuts) - 1; i > 0; i -= 2 {
		from, end := s.cuts[i], s.cuts[i-1]
		if n := path[end]; n.id != m.unk {
			dst = append(dst, n.id)
			continue
		}
		dst = m.appendUnknown(dst, word[from:end])
	}
	return dst, nil
}

func (m *unigram) appendUnknown(dst []uint32, text string) []uint32 {
	if id, ok := m.voc.idOf(text); ok {
		return append(dst, id)
	}
	if m.fallback != nil {
		n := len(dst)
		for i := range len(text) {
			id := m.fallback[text[i]]
			if id == noID {
				return append(dst[:n], m.unk)
			}
			dst = append(dst, id)
		}
		return dst
	}
	return append(dst, m.unk)
}
