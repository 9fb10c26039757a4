package tokenizer

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// addedToken is a token that is found in the text before anything else happens to it.
type addedToken struct {
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
	id         uint32
	normal     string // normalised content, if Normalized
}

// addedTokens are all added tokens of a tokenizer. Ids in files are ignored, as in the reference library: a token of
// the model keeps the model's id, any other gets the next free one.
type addedTokens struct {
	byID    map[uint32]*addedToken
	byText  map[string]uint32
	special map[string]bool // texts of special tokens
	plain   *textTrie       // found in the text as it came
	normal  *textTrie       // found after normalisation
}

func newAddedTokens(list []addedToken, v *vocab, n normalizer) (*addedTokens, error) {
	a := &addedTokens{byID: map[uint32]*addedToken{}, byText: map[string]uint32{}, special: map[string]bool{}}
	next := uint32(v.size() + v.doubles)
	for i := range list {
		t := list[i]
		if t.Content == "" {
			continue
		}
		id, ok := a.byText[t.Content]
		if ok && sameToken(a.byID[id], &t) {
			continue
		}
		if !ok {
			if id, ok = v.idOf(t.Content); !ok {
				id = next
				next++
			}
		}
		if id > maxTokenID {
			return nil, fmt.Errorf("added token %q has id %d; ids above %d are not supported", clip(t.Content), id, maxTokenID)
		}
		t.id, t.normal = id, t.Content
		if t.Normalized && n != nil {
			nt := n.normalize(normText{s: t.Content})
			if nt.err != nil {
				return nil, fmt.Errorf("added token %q: %w", clip(t.Content), nt.err)
			}
			if t.normal = nt.s; t.normal == "" {
				return nil, fmt.Errorf("added token %q (id %d) is empty after normalisation, so it would match everywhere; set its normalized to false", t.Content, id)
			}
		}
		a.byText[t.Content], a.byID[id] = id, &t
		if t.Special {
			a.special[t.Content] = true
		}
	}
	a.index()
	return a, nil
}

func sameToken(a, b *addedToken) bool {
	x, y := *a, *b
	x.id, x.normal, y.id, y.normal = 0, "", 0, ""
	return x == y
}

func (a *addedTokens) index() {
	var plain, normal []*addedToken
	for _, t := range a.byID {
		if t.Normalized {
			normal = append(normal, t)
		} else {
			plain = append(plain, t)
		}
	}
	a.plain, a.normal = newTextTrie(plain), newTextTrie(normal)
}

// token returns the text of an added id as decoding shows it.
func (a *addedTokens) token(id uint32) (string, bool) {
	t, ok := a.byID[id]
	if !ok {
		return "", false
	}
	return t.normal, true
}

// textTrie finds the longest of many texts at a place. Nodes lie in one list; the children of a node are neighbours.
type textTrie struct {
	first [256]bool
	only  int // the one byte that all texts begin with, -1 if there are several
	nodes []trieNode
}

type trieNode struct {
	kids  uint32 // index of the first child
	count uint16
	label byte
	token *addedToken
}

// newTextTrie returns nil for no tokens. Of tokens with the same text the lowest id holds; the reference library takes
// any of them.
func newTextTrie(kept []*addedToken) *textTrie {
	if len(kept) == 0 {
		return nil
	}
	sort.Slice(kept, func(i, j int) bool {
		if kept[i].normal != kept[j].normal {
			return kept[i].normal < kept[j].normal
		}
		return kept[i].id < kept[j].id
	})
	t := &textTrie{nodes: make([]trieNode, 1, 2*len(kept)), only: -1}
	t.fill(0, kept, 0)
	for _, n := range t.nodes[t.nodes[0].kids : t.nodes[0].kids+uint32(t.nodes[0].count)] {
		t.first[n.label] = true
		t.only = int(n.label)
	}
	if t.nodes[0].count != 1 {
		t.only = -1
	}
	return t
}

// fill makes the children of a node from the sorted tokens that share its path.
func (t *textTrie) fill(node int, tokens []*addedToken, depth int) {
	for len(tokens) > 0 && len(tokens[0].normal) == depth {
		if t.nodes[node].token == nil {
			t.nodes[node].token = tokens[0]
		}
		tokens = tokens[1:]
	}
	kids := len(t.nodes)
	var groups [][]*addedToken
	for len(tokens) > 0 {
		c := tokens[0].normal[depth]
		n := sort.Search(len(tokens), func(i int) bool { return tokens[i].normal[depth] > c })
		groups = append(groups, tokens[:n])
		t.nodes = append(t.nodes, trieNode{label: c})
		tokens = tokens[n:]
	}
	t.nodes[node].kids, t.nodes[node].count = uint32(kids), uint16(len(groups))
	for i, g := range groups {
		t.fill(kids+i, g, depth+1)
	}
}

// find returns the first and there longest token at or after pos.
func (t *textTrie) find(s string, pos int) (from, to int, token *addedToken) {
	for ; pos < len(s); pos++ {
		if t.only >= 0 {
			i := strings.IndexByte(s[pos:], byte(t.only))
			if i < 0 {
				break
			}
			pos += i
		} else if !t.first[s[pos]] {
			continue
		}
		if to, token = t.longest(s, pos); token != nil {
			return pos, to, token
		}
	}
	return 0, 0, nil
}

func (t *textTrie) longest(s string, pos int) (to int, token *addedToken) {
	node := &t.nodes[0]
walk:
	for i := pos; i < len(s); i++ {
		kids := t.nodes[node.kids : node.kids+uint32(node.count)]
		for k := range kids {
			if kids[k].label == s[i] {
				node = &kids[k]
				if node.token != nil {
					to, token = i+1, node.token
				}
				continue walk
			}
		}
		break
	}
	return to, token
}

// each calls text for what lies between tokens and token for each token, from left to right.
func (t *textTrie) each(s string, text func(from, to int) error, token func(id uint32)) error {
	if t == nil {
		return text(0, len(s))
	}
	start := 0
	for pos := 0; ; {
		from, to, tok := t.find(s, pos)
		if tok == nil {
			break
		}
		pos = to
		if tok.SingleWord && (wordBefore(s, from) || wordAfter(s, to)) {
			continue
		}
		if tok.LStrip {
			from = max(len(strings.TrimRightFunc(s[:from], isSpace)), start)
		}
		if tok.RStrip {
			to = len(s) - len(strings.TrimLeftFunc(s[to:], isSpace))
		}
		if start < from {
			if err := text(start, from); err != nil {
				return err
			}
		}
		if from < to {
			token(tok.id)
		}
		start = to
	}
	if start != len(s) {
		return text(start, len(s))
	}
	return nil
}

func wordBefore(s string, i int) bool {
	r, size := utf8.DecodeLastRuneInString(s[:i])
	return size > 0 && unidata.Of(r)&unidata.Word != 0
}

func wordAfter(s string, i int) bool {
	r, size := utf8.DecodeRuneInString(s[i:])
	return size > 0 && unidata.Of(r)&unidata.Word != 0
}
