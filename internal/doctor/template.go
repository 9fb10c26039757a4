package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/servemark/servemark/tokenizer/chat"
)

// Template is a model's chat template with the special tokens it is given.
type Template struct {
	template *chat.Template
	special  map[string]string
}

// templateFiles lie beside a tokenizer and hold a chat template or special tokens.
var templateFiles = []string{"tokenizer_config.json", "special_tokens_map.json", "chat_template.json", "chat_template.jinja"}

// ChatTemplate reads the chat template beside a tokenizer; nil where there is none.
func ChatTemplate(t *Tokenizer) (*Template, error) {
	c, err := chat.FromConfig([]byte("{}"))
	if err != nil {
		return nil, err
	}
	if t.Dir != "" {
		for _, name := range templateFiles {
			data, err := os.ReadFile(filepath.Join(t.Dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = c.AddFile(name, data)
			}
			if err != nil {
				return nil, fmt.Errorf("the chat template beside the tokenizer: %w", err)
			}
		}
	}
	source, err := c.Source("", false)
	if err != nil {
		if t.Local == nil || t.Local.Info().ChatTemplate == "" {
			return nil, nil // there is none: a fact, not a fault
		}
		info := t.Local.Info()
		source = info.ChatTemplate
		c.Special["bos_token"], c.Special["eos_token"] = info.BOS, info.EOS
	}
	parsed, err := chat.Parse(source)
	if err != nil {
		return nil, err
	}
	return &Template{parsed, c.Special}, nil
}

// Render makes the text of a conversation, a JSON array of messages.
func (t *Template) Render(messages json.RawMessage, addGenerationPrompt bool) (string, error) {
	return t.template.Render(context.Background(), chat.Input{Messages: messages, AddGenerationPrompt: addGenerationPrompt, Special: t.special})
}

// BOS is the text that opens a sequence, or "".
func (t *Template) BOS() string { return t.special["bos_token"] }
