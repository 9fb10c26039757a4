package tokenizer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Types of pieces, as in sentencepiece_model.proto and, with the same numbers, in GGUF.
const (
	pieceNormal      = 1
	pieceUnknown     = 2
	pieceControl     = 3
	pieceUserDefined = 4
	pieceUnused      = 5
	pieceByte        = 6
)

// spmPiece is one token of a SentencePiece vocabulary.
type spmPiece struct {
	text  string
	score float32
	kind  int
}

// spmModel is what a SentencePiece model says, from a .model file or a GGUF.
type spmModel struct {
	pieces       []spmPiece
	unigram      bool
	byteFallback bool
	prefixSpace  bool // add_dummy_prefix
	trimSpaces   bool // remove_extra_whitespaces
	charsmap     []byte
	bos, eos     int // ids; -1 for none
	addBOS       bool
	addEOS       bool
}

// readSPM reads a serialized ModelProto.
func readSPM(data []byte) (*spmModel, error) {
	m := &spmModel{unigram: true, prefixSpace: true, trimSpaces: true, bos: 1, eos: 2}
	trained, normalized := false, false
	err := eachField(data, func(num protowire.Number, f field) error {
		switch num {
		case 1:
			p, err := readSPMPiece(f.bytes)
			if err != nil {
				return fmt.Errorf("piece %d: %w", len(m.pieces), err)
			}
			if len(m.pieces) > maxTokenID {
				return fmt.Errorf("more than %d pieces", maxTokenID)
			}
			m.pieces = append(m.pieces, p)
		case 2:
			trained = true
			return eachField(f.bytes, m.trainer)
		case 3:
			normalized = true
			return eachField(f.bytes, m.normalizer)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(m.pieces) == 0:
		return nil, fmt.Errorf("there are no pieces in it")
	case !trained || !normalized:
		return nil, fmt.Errorf("it ends before the settings behind its %d pieces; the file is cut short, download it again", len(m.pieces))
	}
	return m, nil
}

// field is the value of a protobuf field; bytes for the length-delimited ones.
type field struct {
	bytes []byte
	num   uint64
}

// eachField calls f for the fields of a message.
func eachField(b []byte, f func(protowire.Number, field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("not a SentencePiece model: %w", protowire.ParseError(n))
		}
		b = b[n:]
		var v field
		switch typ {
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			v.num, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			v.num = uint64(x)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("not a SentencePiece model: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if err := f(num, v); err != nil {
			return err
		}
	}
	return nil
}

func readSPMPiece(b []byte) (spmPiece, error) {
	p := spmPiece{kind: pieceNormal}
	err := eachField(b, func(num protowire.Number, f field) error {
		switch num {
		case 1:
			if !utf8.Valid(f.bytes) {
				return fmt.Errorf("its text is not UTF-8")
			}
			p.text = string(f.bytes)
		case 2:
			p.score = math.Float32frombits(uint32(f.num))
		case 3:
			p.kind = int(min(f.num, 100))
		}
		return nil
	})
	return p, err
}

// trainer reads a field of TrainerSpec.
func (m *spmModel) trainer(num protowire.Number, f field) error {
	switch num {
	case 3:
		switch f.num {
		case 1:
			m.unigram = true
		case 2:
			m.unigram = false
		default:
			return fmt.Errorf("SentencePiece model type %d (words or characters) is not supported; Unigram and BPE are", f.num)
		}
	case 24:
		if f.num != 0 {
			return fmt.Errorf("SentencePiece option treat_whitespace_as_suffix is not supported")
		}
	case 35:
		m.byteFallback = f.num != 0
	case 41:
		m.bos = int(int32(f.num))
	case 42:
		m.eos = int(int32(f.num))
	}
	return nil
}

// normalizer reads a field of NormalizerSpec.
func (m *spmModel) normalizer(num protowire.Number, f field) error {
	switch num {
	case 2:
		m.charsmap = f.bytes
	case 3:
		m.prefixSpace = f.num != 0
	case 4:
		m.trimSpaces = f.num != 0
	case 5:
		if f.num == 0 {
			return fmt.Errorf("SentencePiece option escape_whitespaces=false is not supported")
		}
	}
	return nil
}

// shiftedClasses are tokenizer classes of transformers whose ids are not the places in the .model file.
var shiftedClasses = []string{"XLMRoberta", "MBart", "Camembert", "NLLB", "Nllb", "Xglm", "XGLM", "Barthez", "Pegasus", "BigBird", "Plbart", "PLBart", "M2M100", "SpeechT5"}

// fromSPM builds the tokenizer of a .model file.
func fromSPM(data []byte, cfg *config) (*Tokenizer, error) {
	m, err := readSPM(data)
	if err != nil {
		return nil, err
	}
	if cfg != nil {
		for _, c := range shiftedClasses {
			if strings.HasPrefix(cfg.class, c) {
				return nil, fmt.Errorf("%s gives tokens other ids than this file does; use the model's tokenizer.json", cfg.class)
			}
		}
	}
	m.addBOS, m.addEOS = cfg.addBOS(!m.unigram && m.bos >= 0), cfg.addEOS(m.unigram && cfg != nil && strings.HasPrefix(cfg.class, "T5"))
	return m.tokenizer(parts{info: Info{Source: "sentencepiece"}}, cfg)
}

// tokenizer builds the tokenizer. Control and user-defined pieces are found in the text first, as transformers does.
func (m *spmModel) tokenizer(p parts, cfg *config) (*Tokenizer, error) {
	v := newVocab(len(m.pieces))
	v.list = true
	var scores []float64
	for i, x := range m.pieces {
		if err := v.add(bytesOf(x.text), uint64(i)); err != nil {
			return nil, err
		}
		scores = append(scores, float64(x.score))
		if x.kind == pieceControl || x.kind == pieceUserDefined || x.kind == pieceUnknown {
			p.added = append(p.added, addedToken{Content: x.text, Special: x.kind != pieceUserDefined})
		}
	}
	if cfg != nil {
		for _, t := range cfg.tokens { // behind the pieces
			if int(t.id) >= len(m.pieces) {
				if err := v.add(bytesOf(t.Content), uint64(t.id)); err != nil {
					return nil, err
				}
				scores = append(scores, 0)
				p.added = append(p.added, t)
			}
		}
	}
	v.build()
	if err := m.setModel(&p, v, scores); err != nil {
		return nil, err
	}
	if err := m.setPipeline(&p); err != nil {
		return nil, err
	}
	text := func(id int) string {
		if id >= 0 && id < len(m.pieces) {
			return m.pieces[id].text
		}
		return ""
	}
	p.info.BOS, p.info.EOS = text(m.bos), text(m.eos)
	p.post = template{{own: true}}
	if m.addBOS && p.info.BOS != "" {
		p.post = append(template{{ids: []uint32{uint32(m.bos)}}}, p.post...)
	}
	if m.addEOS && p.info.EOS != "" {
		p.post = append(p.post, templatePart{ids: []uint32{uint32(m.eos)}})
	}
	p.ids += fmt.Sprintf("sentencepiece %v %v %v %x", m.prefixSpace, m.trimSpaces, m.byteFallback, m.charsmap)
	return newTokenizer(p)
}

func (m *spmModel) setModel(p *parts, v *vocab, scores []float64) error {
	unk := noID
	for i, x := range m.pieces {
		if x.kind == pieceUnknown {
			unk = uint32(i)
			break
		}
	}
	if m.unigram {
		u := &unigram{voc: v, scores: scores, unk: unk, narrow: true, trie: newPieceTrie(m.normal(v))}
		worst := math.Inf(1)
		for i, x := range m.pieces {
			if x.kind == pieceNormal {
				worst = min(worst, scores[i])
			}
		}
		u.unkScore = float64(float32(worst) - unkPenalty)
		if m.byteFallback {
			u.fallback = fallbackIDs(v)
		}
		p.model = u
		return nil
	}
	b := &bpe{voc: v, unk: unk, fuseUnk: true}
	if m.byteFallback {
		b.fallback = fallbackIDs(v)
	}
	var order []int
	for i, x := range m.pieces {
		if x.kind == pieceNormal || x.kind == pieceUnused {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		switch a, b := m.pieces[x].score, m.pieces[y].score; {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	var err error
	p.model, err = newRankBPE(b, order)
	return err
}

// normal is the part of the vocabulary that a text may be cut into; byte and control pieces are none.
func (m *spmModel) normal(v *vocab) *vocab {
	n := &vocab{text: v.text}
	for i, e := range v.entries {
		if i < len(m.pieces) && m.pieces[i].kind == pieceNormal {
			n.entries = append(n.entries, e)
		}
	}
	return n
}

// setPipeline sets what happens before and after the model.
func (m *spmModel) setPipeline(p *parts) error {
	var norm normSequence
	if len(m.charsmap) > 0 {
		c, err := readCharsmap(m.charsmap)
		if err != nil {
			return err
		}
		c.longest = true
		norm = append(norm, c)
	}
	if m.trimSpaces {
		norm = append(norm, normTrim{}, normReplace{find: runMatcher{func(r rune) bool { return r == ' ' }, 2}, content: " "})
	}
	if len(norm) > 0 {
		p.norm = norm
	}
	const mark = "▁"
	cut := m.unigram
	for _, x := range m.pieces {
		if x.kind != pieceControl && strings.LastIndex(x.text, mark) > 0 {
			cut = false // a piece reaches over a space
		}
	}
	p.pre = []preTokenizer{spmSpaces{mark, m.prefixSpace, cut}}
	dec := decSequence{decReplace{literalMatcher(mark), " "}, decByteFallback{}, decFuse{}}
	if m.prefixSpace {
		dec = append(dec, decStrip{' ', 1, 0})
	}
	p.dec = dec
	return nil
}

// spmSpaces writes spaces as the mark and puts one more before the first text, whatever it begins with. Metaspace
// does not do that before a space.
type spmSpaces struct {
	mark   string
	prefix bool
	cut    bool // before each mark
}

func (x spmSpaces) split(dst []piece, p piece) ([]piece, error) {
	if x.prefix && p.zero > 0 {
		p = piece{" " + p.s, p.zero + 1}
	}
	return metaspace{mark: x.mark, scheme: "never", cut: x.cut}.split(dst, p)
}

// normTrim drops the spaces at both ends, and no other white space.
type normTrim struct{}

func (normTrim) normalize(t normText) normText {
	s := strings.TrimLeft(t.s, " ")
	zero := max(0, t.zero-(len(t.s)-len(s)))
	if t.zero > 0 && s != "" {
		zero = max(zero, firstZero(t, s))
	}
	s = strings.TrimRight(s, " ")
	return normText{s: s, zero: min(zero, len(s))}
}
