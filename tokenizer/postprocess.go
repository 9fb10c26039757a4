package tokenizer

import (
	"encoding/json"
	"fmt"
)

// template is what a post-processor puts around the ids of a text: parts in order, of which own is the text itself.
type template []templatePart

type templatePart struct {
	own bool
	ids []uint32
}

// templatePiece is {"SpecialToken": {"id": …}} or {"Sequence": {"id": "A"}} in a tokenizer.json.
type templatePiece struct {
	SpecialToken *struct {
		ID string `json:"id"`
	}
	Sequence *struct {
		ID string `json:"id"`
	}
}

type specialToken struct {
	IDs []uint32 `json:"ids"`
}

// namedID is ["token", id].
type namedID struct{ ID uint32 }

// UnmarshalJSON reads the pair.
func (n *namedID) UnmarshalJSON(b []byte) error {
	var name string
	pair := [2]any{&name, &n.ID}
	return json.Unmarshal(b, &pair)
}

// newTemplate reads a post-processor; nil leaves ids as they are.
func newTemplate(raw json.RawMessage) (template, error) {
	c, err := readComponent(raw, "post-processor")
	if err != nil || c == nil {
		return nil, err
	}
	switch c.Type {
	case "ByteLevel": // moves offsets only
		return nil, nil
	case "BertProcessing", "RobertaProcessing":
		if c.Sep == nil || c.Cls == nil {
			return nil, c.missing("sep, cls")
		}
		return template{{ids: []uint32{c.Cls.ID}}, {own: true}, {ids: []uint32{c.Sep.ID}}}, nil
	case "TemplateProcessing":
		return c.template()
	case "Sequence":
		var all template
		for _, r := range c.Processors {
			t, err := newTemplate(r)
			if err != nil {
				return nil, err
			}
			if all != nil && t != nil {
				return nil, fmt.Errorf("post-processor Sequence holds two that add tokens, which is not supported")
			}
			if t != nil {
				all = t
			}
		}
		return all, nil
	}
	return nil, c.unknown()
}

func (c *component) template() (template, error) {
	var t template
	for _, p := range c.Single {
		switch {
		case p.SpecialToken != nil:
			s, ok := c.Special[p.SpecialToken.ID]
			if !ok {
				return nil, fmt.Errorf("post-processor TemplateProcessing uses %q without defining it", p.SpecialToken.ID)
			}
			t = append(t, templatePart{ids: s.IDs})
		case p.Sequence != nil && p.Sequence.ID == "A":
			t = append(t, templatePart{own: true})
		default:
			return nil, fmt.Errorf("post-processor TemplateProcessing: a part that is neither a special token nor sequence A")
		}
	}
	if t == nil {
		return nil, c.missing("single")
	}
	return t, nil
}

// added is the number of ids that t adds.
func (t template) added() int {
	n := 0
	for _, p := range t {
		n += len(p.ids)
	}
	return n
}
