package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servemark/servemark/tokenizer"
)

// SpecialIDs are the ids that the configuration beside a tokenizer names as special, which Hugging Face's tokenizers call
// all_special_ids; nil where there is no configuration. A tokenizer may have more special tokens than are named.
func SpecialIDs(t *Tokenizer) ([]uint32, error) {
	if t.Local == nil || t.Dir == "" {
		return nil, nil
	}
	config, err := readObject(filepath.Join(t.Dir, "tokenizer_config.json"))
	if config == nil || err != nil {
		return nil, err
	}
	if config["added_tokens_decoder"] == nil { // an older configuration is in two files
		older, err := readObject(filepath.Join(t.Dir, "special_tokens_map.json"))
		if err != nil {
			return nil, err
		}
		maps.Copy(config, older)
	}
	return idsOf(t.Local, specialTokens(config)), nil
}

// readObject reads a file that holds a JSON object; nil where there is none.
func readObject(path string) (map[string]json.RawMessage, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the tokenizer's configuration: %w", err)
	}
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("the tokenizer's configuration %s: %w", path, err)
	}
	return object, nil
}

// specialTokens are the texts under the keys that end in "_token", and those of a list or object of further ones
// (transformers 5.24, tokenization_utils_base.py).
func specialTokens(config map[string]json.RawMessage) []string {
	var tokens []string
	add := func(raw json.RawMessage) {
		if text, ok := tokenText(raw); ok && !slices.Contains(tokens, text) {
			tokens = append(tokens, text)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if strings.HasSuffix(key, "_token") {
			add(config[key])
		}
	}
	var list []json.RawMessage
	var named map[string]json.RawMessage
	switch {
	case json.Unmarshal(config["extra_special_tokens"], &list) == nil && len(list) > 0:
	case json.Unmarshal(config["extra_special_tokens"], &named) == nil && len(named) > 0:
		list = slices.Collect(maps.Values(named))
	case json.Unmarshal(config["additional_special_tokens"], &list) != nil:
		return tokens
	}
	for _, raw := range list {
		add(raw)
	}
	return tokens
}

// tokenText is a token's text, which is written plainly or with its properties.
func tokenText(raw json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, text != ""
	}
	var full struct {
		Content string `json:"content"`
	}
	return full.Content, json.Unmarshal(raw, &full) == nil && full.Content != ""
}

// idsOf are the ids of those tokens that there are, never nil.
func idsOf(t *tokenizer.Tokenizer, tokens []string) []uint32 {
	ids := []uint32{}
	for _, text := range tokens {
		if id, ok := t.ID(text); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
