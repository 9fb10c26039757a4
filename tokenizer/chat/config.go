package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Config is what a model's files say about chats.
type Config struct {
	// Templates holds sources by name. A model with one template calls it "default"; with several,
	// "tool_use" is the one for conversations with tools.
	Templates map[string]string
	// Special holds special tokens by the variable that templates know them by: "bos_token", …
	Special map[string]string

	source origin // which kind of file the templates are from
}

// origin orders the places that templates come from: a later one replaces all of an earlier one, as
// in transformers.
type origin int

const (
	fromConfig origin = iota + 1 // tokenizer_config.json
	fromJSON                     // chat_template.json
	fromJinja                    // chat_template.jinja, additional_chat_templates/*.jinja
)

// FromConfig reads the templates and special tokens of a tokenizer_config.json. A file without
// templates gives a Config without: they may be in a file of their own, for AddFile.
func FromConfig(tokenizerConfig []byte) (*Config, error) {
	c := &Config{Templates: map[string]string{}, Special: map[string]string{}}
	return c, c.AddFile("tokenizer_config.json", tokenizerConfig)
}

// AddFile reads one more file of the model's folder by its name there: chat_template.jinja,
// additional_chat_templates/NAME.jinja, chat_template.json, special_tokens_map.json or
// tokenizer_config.json. The order of the calls does not matter. Any other name is an error.
func (c *Config) AddFile(name string, data []byte) error {
	switch {
	case name == "chat_template.jinja":
		c.add(fromJinja, "default", string(data))
		return nil
	case strings.HasPrefix(name, "additional_chat_templates/") && strings.HasSuffix(name, ".jinja"):
		c.add(fromJinja, strings.TrimSuffix(path.Base(name), ".jinja"), string(data))
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("%s is not a JSON object: %w; it may be cut off, download it again", name, err)
	}
	switch name {
	case "tokenizer_config.json":
		c.addSpecial(fields)
		return c.addTemplates(name, fromConfig, fields["chat_template"])
	case "chat_template.json":
		return c.addTemplates(name, fromJSON, fields["chat_template"])
	case "special_tokens_map.json":
		c.addSpecial(fields)
		return nil
	}
	return fmt.Errorf("%s holds no chat template: expected chat_template.jinja, chat_template.json or tokenizer_config.json", name)
}

func (c *Config) add(from origin, name, source string) {
	if from < c.source {
		return
	}
	if from > c.source {
		clear(c.Templates)
		c.source = from
	}
	c.Templates[name] = source
}

// addTemplates reads a "chat_template" field: one source, or a list of named ones.
func (c *Config) addTemplates(file string, from origin, data json.RawMessage) error {
	if len(data) == 0 || string(data) == "null" {
		return nil
	}
	var one string
	if json.Unmarshal(data, &one) == nil {
		c.add(from, "default", one)
		return nil
	}
	var named []struct {
		Name     string  `json:"name"`
		Template *string `json:"template"`
	}
	if err := json.Unmarshal(data, &named); err != nil {
		return fmt.Errorf("chat_template in %s is neither a text nor a list of named templates: %w", file, err)
	}
	for i, n := range named {
		if n.Name == "" || n.Template == nil {
			return fmt.Errorf("chat_template in %s: element %d lacks its name or its template", file, i)
		}
		c.add(from, n.Name, *n.Template)
	}
	return nil
}

// addSpecial reads the special tokens: fields that end in _token, as texts or as objects with their
// content, and those of extra_special_tokens. A token that is known already stays.
func (c *Config) addSpecial(fields map[string]json.RawMessage) {
	var extra map[string]json.RawMessage
	if json.Unmarshal(fields["extra_special_tokens"], &extra) == nil { // a list has no names
		c.addTokens(extra, "")
	}
	c.addTokens(fields, "_token")
}

func (c *Config) addTokens(fields map[string]json.RawMessage, suffix string) {
	for name, data := range fields {
		if _, known := c.Special[name]; known || !strings.HasSuffix(name, suffix) {
			continue
		}
		var token any                    // null, and switches such as add_bos_token, are no token
		_ = json.Unmarshal(data, &token) // part of JSON that was read already
		if object, ok := token.(map[string]any); ok {
			token = object["content"]
		}
		if text, ok := token.(string); ok {
			c.Special[name] = text
		}
	}
}

// Source picks a template as transformers does: the named one; without a name "tool_use" where there
// are tools and the model has it, else "default".
func (c *Config) Source(name string, tools bool) (string, error) {
	if name == "" {
		name = "default"
		if _, ok := c.Templates["tool_use"]; ok && tools {
			name = "tool_use"
		}
	}
	if s, ok := c.Templates[name]; ok {
		return s, nil
	}
	if len(c.Templates) == 0 {
		return "", errors.New("the model's files hold no chat template; give one, or use prompts that are no chats")
	}
	return "", fmt.Errorf("the model has no chat template named %q; it has %s", name,
		strings.Join(slices.Sorted(maps.Keys(c.Templates)), ", "))
}
