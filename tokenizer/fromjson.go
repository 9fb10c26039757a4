package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// FromJSON reads the text of a tokenizer.json. Truncation and padding settings in it are not applied.
func FromJSON(data []byte) (*Tokenizer, error) {
	t, err := fromJSON(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return t, nil
}

func fromJSON(data []byte) (*Tokenizer, error) {
	if len(data) > 1<<31 {
		return nil, fmt.Errorf("the file has %d bytes; more than 2 GiB is no tokenizer", len(data))
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("the file is not UTF-8 text")
	}
	s := &jsonScan{data: data}
	small := map[string]json.RawMessage{}
	var m *modelData
	err := s.object(func(key string) error {
		if key == "model" {
			var err error
			m, err = readModel(s)
			return err
		}
		v, err := s.raw()
		small[key] = bytes.Clone(v) // so that the file need not be kept while the model is built
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.peek() != 0 {
		return nil, s.fail("more text after the JSON object")
	}
	if m == nil {
		return nil, fmt.Errorf(`there is no "model"; is this the tokenizer.json of a model?`)
	}
	if v := small["version"]; v != nil && string(v) != `"1.0"` {
		return nil, fmt.Errorf("version %s is not known; 1.0 is", v)
	}
	return fromParts(m, small)
}

// fromParts builds the tokenizer from the model and the other values by key.
func fromParts(m *modelData, small map[string]json.RawMessage) (*Tokenizer, error) {
	p := parts{info: Info{Source: "tokenizer.json"}}
	var err error
	if p.norm, err = newNormalizer(small["normalizer"]); err != nil {
		return nil, err
	}
	if p.pre, err = newPreTokenizers(small["pre_tokenizer"]); err != nil {
		return nil, err
	}
	if p.post, err = newTemplate(small["post_processor"]); err != nil {
		return nil, err
	}
	if p.dec, err = newDecoder(small["decoder"]); err != nil {
		return nil, err
	}
	if raw := small["added_tokens"]; raw != nil {
		if err := json.Unmarshal(raw, &p.added); err != nil {
			return nil, fmt.Errorf("added_tokens: %w", err)
		}
	}
	if p.model, err = newModel(m); err != nil {
		return nil, err
	}
	var ids bytes.Buffer
	for _, key := range []string{"normalizer", "pre_tokenizer"} {
		if err := json.Compact(&ids, append([]byte(nil), small[key]...)); err != nil && len(small[key]) > 0 {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		ids.WriteByte('\n')
	}
	p.ids = ids.String()
	return newTokenizer(p)
}
