// Package tokenizer turns text into the token ids a model sees, and back. Ids equal those of Hugging Face tokenizers
// 0.23; a file whose parts it does not know is refused, never approximated.
package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Tokenizer is a tokenizer as read from a file. It does not change and may be used from many goroutines.
type Tokenizer struct {
	model   model
	norm    normalizer
	pre     []preTokenizer
	fast    *fastPath
	safe    *safeSplit
	added   *addedTokens
	post    template
	dec     decodeStep
	steady  bool // decoding can be streamed with a window
	info    Info
	idParts string // settings that decide ids, for Fingerprint
	vocab   int
	free    sync.Pool // of *encoder
	print   func() string
}

// Info is what the files beside the vocabulary say; empty where they are silent.
type Info struct {
	Source       string // format read: tokenizer.json, tiktoken, gguf, sentencepiece, tekken
	BOS, EOS     string // texts of the beginning and end tokens
	ChatTemplate string // Jinja text, not interpreted here

	// NamedTemplates are all templates by name where a file lists several; the default one is ChatTemplate.
	NamedTemplates map[string]string
}

// Info returns what the tokenizer's files say beside the vocabulary.
func (t *Tokenizer) Info() Info { return t.info }

// hashWriter takes what decides ids.
type hashWriter = io.Writer

// parts are what a file format yields.
type parts struct {
	model model
	norm  normalizer
	pre   []preTokenizer
	added []addedToken
	post  template
	dec   decodeStep
	info  Info
	ids   string // text of the settings that decide ids
}

func newTokenizer(p parts) (*Tokenizer, error) {
	t := &Tokenizer{model: p.model, norm: p.norm, pre: p.pre, post: p.post, dec: p.dec, info: p.info, idParts: p.ids}
	v := p.model.vocabulary()
	var err error
	if t.added, err = newAddedTokens(p.added, v, p.norm); err != nil {
		return nil, err
	}
	t.vocab = v.size()
	for text := range t.added.byText {
		if _, ok := v.idOf(text); !ok {
			t.vocab++
		}
	}
	for _, part := range t.post {
		for _, id := range part.ids {
			if id > maxTokenID {
				return nil, fmt.Errorf("the post-processor adds id %d; ids above %d are not supported", id, maxTokenID)
			}
		}
	}
	t.plan()
	t.steady = steady(t.dec, t)
	t.forget()
	t.print = sync.OnceValue(t.fingerprint)
	return t, nil
}

// forget drops the encoders and with them the words they remember.
func (t *Tokenizer) forget() {
	t.free = sync.Pool{New: func() any { return &encoder{t: t, cache: newWordCache()} }}
}

// Encode returns the ids of text. special adds what the model's post-processor adds (BOS, EOS and the like); special
// tokens written in the text are recognised either way. Bytes that are not UTF-8 count as U+FFFD.
func (t *Tokenizer) Encode(text string, special bool) ([]uint32, error) {
	return t.AppendEncode(nil, text, special)
}

// AppendEncode appends the ids of text to dst; see Encode.
func (t *Tokenizer) AppendEncode(dst []uint32, text string, special bool) ([]uint32, error) {
	if !utf8.ValidString(text) {
		text = stringOf(appendValid(nil, bytesOf(text)))
	}
	e := t.free.Get().(*encoder)
	defer t.free.Put(e)
	if t.post == nil {
		return e.text(dst, text)
	}
	var err error
	for _, p := range t.post {
		switch {
		case p.own:
			if dst, err = e.text(dst, text); err != nil {
				return dst, err
			}
		case special:
			dst = append(dst, p.ids...)
		}
	}
	return dst, nil
}

// Count returns the number of ids of text; see Encode.
func (t *Tokenizer) Count(text string, special bool) (int, error) {
	ids, err := t.Encode(text, special)
	return len(ids), err
}

// NumSpecial is the number of ids that Encode adds to a text when special is true.
func (t *Tokenizer) NumSpecial() int { return t.post.added() }

// VocabSize is the number of distinct tokens, added ones included. Ids may have holes: it is no bound for them.
func (t *Tokenizer) VocabSize() int { return t.vocab }

// Token returns the text of a token as the vocabulary spells it, which is not always the text it stands for.
func (t *Tokenizer) Token(id uint32) (string, bool) {
	if s, ok := t.added.token(id); ok {
		return s, true
	}
	b, ok := t.model.vocabulary().token(id)
	return string(b), ok
}

// ID returns the id of a token by its spelling in the vocabulary.
func (t *Tokenizer) ID(token string) (uint32, bool) {
	if id, ok := t.added.byText[token]; ok {
		return id, true
	}
	return t.model.vocabulary().idOf(token)
}

// IsSpecial reports whether decoding without special tokens leaves id out.
func (t *Tokenizer) IsSpecial(id uint32) bool {
	s, ok := t.Token(id)
	return ok && t.added.special[s]
}

// VocabEntry is one token of a vocabulary.
type VocabEntry struct {
	ID    uint32
	Token string
}

// Vocab lists all tokens, added ones included, by id and then by text.
func (t *Tokenizer) Vocab() []VocabEntry {
	v := t.model.vocabulary()
	all := make([]VocabEntry, 0, t.vocab)
	for i, e := range v.entries {
		text := string(v.entryText(i))
		if _, ok := t.added.byText[text]; ok {
			continue
		}
		if v.doubles > 0 {
			if j, _ := v.find(v.entryText(i)); j != i {
				continue
			}
		}
		all = append(all, VocabEntry{e.id, text})
	}
	for text, id := range t.added.byText {
		all = append(all, VocabEntry{id, text})
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].ID != all[j].ID {
			return all[i].ID < all[j].ID
		}
		return all[i].Token < all[j].Token
	})
	return all
}

// Fingerprint is a hash of all that decides ids. Two files with the same fingerprint give the same ids; the same
// tokenizer in two formats may have two fingerprints.
func (t *Tokenizer) Fingerprint() string { return t.print() }

func (t *Tokenizer) fingerprint() string {
	h := sha256.New()
	for _, e := range t.Vocab() {
		fmt.Fprintf(h, "%d %q\n", e.ID, e.Token)
	}
	t.model.hash(h)
	ids := make([]uint32, 0, len(t.added.byID))
	for id := range t.added.byID {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for _, id := range ids {
		a := t.added.byID[id]
		fmt.Fprintf(h, "added %d %q %v %v %v %v %v\n", id, a.Content, a.SingleWord, a.LStrip, a.RStrip, a.Normalized, a.Special)
	}
	fmt.Fprintf(h, "post %v\n%s", t.post, t.idParts)
	return hex.EncodeToString(h.Sum(nil))
}

// Decode returns the text of ids. Ids without a token are left out, and special tokens too if skipSpecial is set.
func (t *Tokenizer) Decode(ids []uint32, skipSpecial bool) (string, error) {
	if _, ok := t.dec.(decByteLevel); ok {
		raw := t.appendBytes(make([]byte, 0, 4*len(ids)), ids, skipSpecial)
		if !utf8.Valid(raw) {
			raw = appendValid(nil, raw)
		}
		return stringOf(raw), nil
	}
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if s, ok := t.Token(id); ok && !(skipSpecial && t.added.special[s]) {
			tokens = append(tokens, s)
		}
	}
	if t.dec == nil {
		return strings.Join(tokens, " "), nil
	}
	tokens, err := t.dec.decode(tokens)
	if err != nil {
		return "", fmt.Errorf("decode: %w", err)
	}
	return strings.Join(tokens, ""), nil
}

// appendBytes appends the bytes that the tokens of a byte-level vocabulary stand for.
func (t *Tokenizer) appendBytes(dst []byte, ids []uint32, skipSpecial bool) []byte {
	v := t.model.vocabulary()
	for _, id := range ids {
		if a, ok := t.added.byID[id]; ok {
			if !skipSpecial || !t.added.special[a.normal] {
				dst = appendCharBytes(dst, bytesOf(a.normal))
			}
			continue
		}
		if b, ok := v.token(id); ok && !(skipSpecial && t.added.special[stringOf(b)]) {
			dst = appendCharBytes(dst, b)
		}
	}
	return dst
}
