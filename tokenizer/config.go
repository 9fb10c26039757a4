package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// config is what tokenizer_config.json, config.json and chat_template.jinja beside a tokenizer say. A nil config says
// nothing.
type config struct {
	class    string
	bos, eos string
	add      struct{ bos, eos *bool }
	tokens   []addedToken // by id
	template string
	named    map[string]string
	bosID    *uint32
	eosID    *uint32
}

// textOrToken is "text" or {"content": "text", …}.
type textOrToken struct{ text string }

// UnmarshalJSON reads either form; null is "".
func (t *textOrToken) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &t.text) == nil {
		return nil
	}
	var o struct{ Content string }
	err := json.Unmarshal(b, &o)
	t.text = o.Content
	return err
}

type configFile struct {
	Class    string                     `json:"tokenizer_class"`
	BOS      textOrToken                `json:"bos_token"`
	EOS      textOrToken                `json:"eos_token"`
	AddBOS   *bool                      `json:"add_bos_token"`
	AddEOS   *bool                      `json:"add_eos_token"`
	Template json.RawMessage            `json:"chat_template"`
	Tokens   map[string]json.RawMessage `json:"added_tokens_decoder"`
}

// readConfig reads what there is in dir. A file that is there and cannot be read is an error: it may change ids.
func readConfig(dir string) (*config, error) {
	c := &config{}
	for _, f := range []struct {
		name string
		read func([]byte) error
	}{
		{"tokenizer_config.json", c.parse},
		{"chat_template.jinja", func(data []byte) error { c.template = string(data); return nil }},
		{"config.json", c.parseModel},
	} {
		path := filepath.Join(dir, f.name)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = f.read(data)
		}
		var of *fs.PathError
		switch {
		case errors.As(err, &of):
			return nil, fmt.Errorf("%s: %w", path, of.Err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return c, nil
}

func (c *config) parse(data []byte) error {
	var f configFile
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	c.class, c.bos, c.eos = f.Class, f.BOS.text, f.EOS.text
	c.add.bos, c.add.eos = f.AddBOS, f.AddEOS
	for key, raw := range f.Tokens {
		id, err := strconv.ParseUint(key, 10, 32)
		if err != nil || id > maxTokenID {
			return fmt.Errorf("added_tokens_decoder: %q is not an id", clip(key))
		}
		t := addedToken{id: uint32(id)}
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("added_tokens_decoder %s: %w", key, err)
		}
		c.tokens = append(c.tokens, t)
	}
	slices.SortFunc(c.tokens, func(a, b addedToken) int { return int(a.id) - int(b.id) })
	return c.parseTemplate(f.Template)
}

// parseTemplate reads the template: one text, or a list of named ones.
func (c *config) parseTemplate(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &c.template) == nil {
		return nil
	}
	var list []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("chat_template is neither a text nor a list of named ones: %w", err)
	}
	c.named = map[string]string{}
	for _, t := range list {
		c.named[t.Name] = t.Template
	}
	c.template = c.named["default"]
	return nil
}

// parseModel reads BOS and EOS of a config.json, where EOS may be a list whose first counts.
func (c *config) parseModel(data []byte) error {
	var f struct {
		BOS json.RawMessage `json:"bos_token_id"`
		EOS json.RawMessage `json:"eos_token_id"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	first := func(raw json.RawMessage) *uint32 {
		var one *uint32
		if json.Unmarshal(raw, &one) == nil {
			return one
		}
		var many []uint32
		if json.Unmarshal(raw, &many) == nil && len(many) > 0 {
			return &many[0]
		}
		return nil
	}
	c.bosID, c.eosID = first(f.BOS), first(f.EOS)
	return nil
}

// addBOS is add_bos_token, or otherwise if it is not set.
func (c *config) addBOS(otherwise bool) bool {
	if c == nil || c.add.bos == nil {
		return otherwise
	}
	return *c.add.bos
}

// addEOS is add_eos_token, or otherwise if it is not set.
func (c *config) addEOS(otherwise bool) bool {
	if c == nil || c.add.eos == nil {
		return otherwise
	}
	return *c.add.eos
}

// specials lists the tokens of added_tokens_decoder; nil if there are none.
func (c *config) specials() []addedToken {
	if c == nil {
		return nil
	}
	return c.tokens
}

// fill completes what a tokenizer says about itself.
func (c *config) fill(t *Tokenizer) {
	if c.template != "" {
		t.info.ChatTemplate = c.template
	}
	if c.named != nil {
		t.info.NamedTemplates = c.named
	}
	set := func(to *string, text string, id *uint32) {
		if text != "" {
			*to = text
		} else if id != nil && *to == "" {
			*to, _ = t.Token(*id)
		}
	}
	set(&t.info.BOS, c.bos, c.bosID)
	set(&t.info.EOS, c.eos, c.eosID)
}
