package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// precompiled applies the character map of a SentencePiece model: a double array from texts to replacements. The
// reference library looks up grapheme clusters and takes the shortest prefix that is mapped; SentencePiece itself takes
// the longest at each place.
type precompiled struct {
	longest bool
	trie    []uint32
	text    string              // replacements, each ended by a zero byte
	same    [utf8.RuneSelf]bool // ASCII characters that the map leaves alone
}

func newPrecompiled(c *component) (normalizer, error) {
	raw, err := base64.StdEncoding.DecodeString(c.Charsmap)
	if err != nil {
		return nil, fmt.Errorf("%s Precompiled: the map is not base64: %w", c.role, err)
	}
	p, err := readCharsmap(raw)
	if err != nil {
		return nil, fmt.Errorf("%s Precompiled: %w", c.role, err)
	}
	return p, nil
}

// readCharsmap reads the map: the byte length of the double array, the array, the replacements.
func readCharsmap(raw []byte) (*precompiled, error) {
	if len(raw) < 4 {
		return nil, fmt.Errorf("the character map is cut short")
	}
	size := uint64(binary.LittleEndian.Uint32(raw))
	if size/4*4 > uint64(len(raw)-4) {
		return nil, fmt.Errorf("the character map says %d bytes and has %d", size, len(raw)-4)
	}
	p := &precompiled{trie: make([]uint32, size/4)}
	for i := range p.trie {
		p.trie[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	text := raw[4+4*len(p.trie):]
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("the replacements of the character map are not UTF-8")
	}
	p.text = string(text)
	for c := range p.same {
		_, mapped := p.shortest(string(rune(c)))
		p.same[c] = !mapped
	}
	return p, nil
}

// shortest returns the replacement of the shortest prefix of key that has one.
func (p *precompiled) shortest(key string) (string, bool) {
	at, size := p.prefix(key, false)
	if size == 0 {
		return "", false
	}
	return p.replacement(at)
}

// prefix finds the shortest or the longest prefix of key that is mapped, and where its replacement is; size 0 is none.
func (p *precompiled) prefix(key string, longest bool) (at uint32, size int) {
	if len(p.trie) == 0 {
		return 0, 0
	}
	node := offset(p.trie[0])
	for i := range len(key) {
		c := key[i]
		if c == 0 {
			break
		}
		node ^= uint32(c)
		if uint64(node) >= uint64(len(p.trie)) {
			break
		}
		unit := p.trie[node]
		if unit&(1<<31|0xFF) != uint32(c) {
			break
		}
		node ^= offset(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if uint64(node) >= uint64(len(p.trie)) {
			break
		}
		at, size = p.trie[node]&(1<<31-1), i+1
		if !longest {
			break
		}
	}
	return at, size
}

func (p *precompiled) replacement(at uint32) (string, bool) {
	if uint64(at) > uint64(len(p.text)) {
		return "", false
	}
	end := int(at)
	for end < len(p.text) && p.text[end] != 0 {
		end++
	}
	return p.text[at:end], true
}

func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// normalize replaces short grapheme clusters that the map knows, else their characters one by one.
func (p *precompiled) normalize(t normText) normText {
	out := make([]byte, 0, len(t.s)+len(t.s)/4)
	changed := false
	zero := 0
	for pos := 0; pos < len(t.s); {
		if end := p.plain(t.s, pos); end > pos {
			out = append(out, t.s[pos:end]...)
			if pos < t.zero {
				zero = len(out) - (end - min(end, t.zero))
			}
			pos = end
			continue
		}
		if p.longest {
			var ok bool
			out, pos, ok = p.appendLongest(out, t.s, pos)
			changed = changed || ok
			if t.zero > 0 && zero == 0 {
				zero = len(out)
			}
			continue
		}
		end := unidata.NextGrapheme(t.s, pos)
		g := t.s[pos:end]
		if r, ok := p.short(g); ok {
			out = append(out, r...)
			changed = true
		} else {
			for i := 0; i < len(g); {
				_, size := utf8.DecodeRuneInString(g[i:])
				if r, ok := p.shortest(g[i : i+size]); ok {
					out = append(out, r...)
					changed = true
				} else {
					out = append(out, g[i:i+size]...)
				}
				i += size
			}
		}
		if pos < t.zero {
			zero = len(out)
		}
		pos = end
	}
	if !changed {
		return t
	}
	// A first character that goes leaves its place to the next, as in the reference library.
	s := stringOf(out)
	return normText{s: s, zero: max(zero, firstZero(t, s))}
}

// appendLongest appends what becomes of the text at pos, as SentencePiece does it.
func (p *precompiled) appendLongest(out []byte, s string, pos int) ([]byte, int, bool) {
	if at, size := p.prefix(s[pos:], true); size > 0 {
		if r, ok := p.replacement(at); ok {
			return append(out, r...), pos + size, true
		}
	}
	_, size := utf8.DecodeRuneInString(s[pos:])
	return append(out, s[pos:pos+size]...), pos + size, false
}

// plain returns the end of the run from pos of ASCII characters that stay as they are and are clusters by themselves.
func (p *precompiled) plain(s string, pos int) int {
	for pos < len(s) && s[pos] < utf8.RuneSelf && p.same[s[pos]] && s[pos] != '\r' && (pos+1 == len(s) || s[pos+1] < utf8.RuneSelf) {
		pos++
	}
	return pos
}

func (p *precompiled) short(g string) (string, bool) {
	if len(g) >= 6 {
		return "", false
	}
	return p.shortest(g)
}
