package tokenizer

import (
	"encoding/json"
	"fmt"
)

// tekkenFile is a tekken.json: Mistral's ranks, pattern and special tokens in one file.
type tekkenFile struct {
	Config struct {
		Pattern    string `json:"pattern"`
		VocabSize  int    `json:"default_vocab_size"`
		NumSpecial int    `json:"default_num_special_tokens"`
		Version    string `json:"version"`
		NumVocab   int    `json:"num_vocab_tokens"`
	} `json:"config"`
	Vocab []struct {
		Rank  uint32 `json:"rank"`
		Bytes []byte `json:"token_bytes"`
	} `json:"vocab"`
	Special []struct {
		Rank uint32 `json:"rank"`
		Text string `json:"token_str"`
	} `json:"special_tokens"`
}

// oldTekkenSpecial are the special tokens of files that list none; the rest up to the configured number are fillers.
var oldTekkenSpecial = [...]string{
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]",
	"[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
}

// fromTekken builds the tokenizer of a tekken.json. Ids are ranks moved behind the special tokens; ranks beyond the
// configured vocabulary are not used.
func fromTekken(data []byte, cfg *config) (*Tokenizer, error) {
	var f tekkenFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("tekken.json: %w", err)
	}
	c := f.Config
	if c.Pattern == "" || c.NumSpecial < 3 || c.VocabSize <= c.NumSpecial || c.VocabSize > maxTokenID {
		return nil, fmt.Errorf("tekken.json: config has no pattern or no usable sizes (%d tokens, %d special)", c.VocabSize, c.NumSpecial)
	}
	use := c.VocabSize - c.NumSpecial
	if len(f.Vocab) < use {
		return nil, fmt.Errorf("tekken.json: %d ranks of %d; the file is cut short", len(f.Vocab), use)
	}
	lines := make([]rankLine, 0, use)
	for _, v := range f.Vocab {
		if int64(v.Rank) < int64(use) {
			lines = append(lines, rankLine{v.Bytes, v.Rank + uint32(c.NumSpecial)})
		}
	}
	special, err := f.specials()
	if err != nil {
		return nil, err
	}
	p := parts{info: Info{Source: "tekken", BOS: "<s>", EOS: "</s>"}}
	if cfg.addBOS(true) {
		p.post = surround(special, "<s>", "")
	}
	return rankTokenizer(p, lines, special, c.Pattern)
}

func (f *tekkenFile) specials() ([]addedToken, error) {
	var out []addedToken
	taken := make([]bool, f.Config.NumSpecial)
	put := func(text string, id uint32) {
		out = append(out, controlToken(text, id))
		taken[id] = true
	}
	for _, s := range f.Special {
		if int64(s.Rank) >= int64(len(taken)) || taken[s.Rank] || s.Text == "" {
			return nil, fmt.Errorf("tekken.json: special token %q has rank %d of %d", clip(s.Text), s.Rank, len(taken))
		}
		put(s.Text, s.Rank)
	}
	if len(f.Special) == 0 {
		for i, t := range oldTekkenSpecial {
			if i < len(taken) {
				put(t, uint32(i))
			}
		}
	}
	for i, t := range taken {
		if !t {
			put(fmt.Sprintf("<SPECIAL_%d>", i), uint32(i))
		}
	}
	return out, nil
}
