package tokenizer

import (
	"encoding/json"
	"fmt"
	"unsafe"
)

// model turns one piece of prepared text into ids.
type model interface {
	// appendWord appends the ids of word. dst beyond its length may be used as working memory.
	appendWord(s *scratch, dst []uint32, word string) ([]uint32, error)
	// vocabulary returns the model's own tokens, without added ones.
	vocabulary() *vocab
	// hash feeds everything beside the vocabulary that decides ids.
	hash(w hashWriter)
}

// bytesOf returns the bytes of s without a copy; they must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// stringOf returns b as a string without a copy; b must not change afterwards.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// modelSpec is the small part of the "model" object of a tokenizer.json.
type modelSpec struct {
	Type         string   `json:"type"`
	Dropout      *float64 `json:"dropout"`
	UnkToken     *string  `json:"unk_token"`
	Prefix       *string  `json:"continuing_subword_prefix"`
	Suffix       *string  `json:"end_of_word_suffix"`
	FuseUnk      bool     `json:"fuse_unk"`
	ByteFallback bool     `json:"byte_fallback"`
	IgnoreMerges bool     `json:"ignore_merges"`
	UnkID        *uint64  `json:"unk_id"`
	MaxChars     *int     `json:"max_input_chars_per_word"`
}

func (m *modelSpec) prefix() string { return orEmpty(m.Prefix) }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// modelData is a "model" object as read: its settings and its long lists.
type modelData struct {
	spec   modelSpec
	vocab  *vocab
	scores []float64 // of a Unigram vocabulary, by place in the list
	merges [][]merge // in parts that lie one after the other
	hasMrg bool
}

// readModel reads the object at s.
func readModel(s *jsonScan) (*modelData, error) {
	d := &modelData{}
	small := map[string]json.RawMessage{}
	mergesAt, prefixLen := -1, 0
	err := s.object(func(key string) error {
		var err error
		switch key {
		case "vocab":
			if s.peek() == '[' {
				d.vocab, d.scores, err = readPieces(s)
			} else {
				d.vocab, err = readVocab(s)
			}
			return err
		case "merges":
			s.space()
			mergesAt = s.pos
			d.hasMrg = true
			if d.vocab == nil {
				return s.skip(0)
			}
			prefixLen = prefixLength(small)
			d.merges, err = readMerges(s, d.vocab, prefixLen)
			return err
		}
		small[key], err = s.raw()
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(small)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &d.spec); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if d.vocab == nil {
		return nil, fmt.Errorf("the model has no vocabulary")
	}
	if d.hasMrg && (d.merges == nil || prefixLen != len(d.spec.prefix())) { // they stood before what they need
		at := &jsonScan{data: s.data, pos: mergesAt}
		if d.merges, err = readMerges(at, d.vocab, len(d.spec.prefix())); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// prefixLength is the length of the continuing prefix among the settings read so far.
func prefixLength(small map[string]json.RawMessage) int {
	var prefix *string
	if json.Unmarshal(small["continuing_subword_prefix"], &prefix) != nil {
		return 0 // not read yet, or wrong, which is said later
	}
	return len(orEmpty(prefix))
}

// readVocab reads {"token": id, …}.
func readVocab(s *jsonScan) (*vocab, error) {
	v := newVocab(1 << 12)
	if err := s.expect('{'); err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		ok, err := s.more('}', first)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		key, err := s.str()
		if err != nil {
			return nil, err
		}
		if err := s.expect(':'); err != nil {
			return nil, err
		}
		id, err := s.uint()
		if err != nil {
			return nil, err
		}
		if err := v.add(key, id); err != nil {
			return nil, err
		}
	}
	v.build()
	return v, nil
}

// newModel builds the model that d describes.
func newModel(d *modelData) (model, error) {
	kind := d.spec.Type
	if kind == "" { // old files do not say
		switch {
		case d.scores != nil:
			kind = "Unigram"
		case d.hasMrg:
			kind = "BPE"
		case d.spec.MaxChars != nil || d.spec.Prefix != nil:
			kind = "WordPiece"
		default:
			kind = "WordLevel"
		}
	}
	if kind != "Unigram" && d.scores != nil {
		return nil, fmt.Errorf("model type %s with a vocabulary written as a list", kind)
	}
	switch kind {
	case "BPE":
		return newBPE(d)
	case "Unigram":
		return newUnigram(d)
	case "WordPiece":
		return newWordPiece(d)
	case "WordLevel":
		return newWordLevel(d)
	}
	return nil, fmt.Errorf("model type %q is not known; BPE, Unigram, WordPiece and WordLevel are", kind)
}
