package tokenizer

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/servemark/servemark/tokenizer/internal/unidata"
)

// A tiktoken rank file has a line for each token: its bytes in base64 and its rank, which is its id. It says neither
// the pattern nor the special tokens, so those of the known families are found by the number of ranks.

// rankFamily is a family of rank files.
type rankFamily struct {
	name    string
	ranks   int
	pattern string
	nfc     bool
	special func(ranks int) []addedToken
	bos     string
	eos     string
}

const (
	patternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	patternCL100K = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternQwen2  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternQwen35 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternO200K  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternTekken = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|` +
		`\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternKimi = `[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// rankFamilies are the families known by their number of ranks. Special tokens that a tokenizer_config.json lists
// come on top.
func rankFamilies() []rankFamily {
	return []rankFamily{
		{name: "r50k_base (GPT-2)", ranks: 50256, pattern: patternGPT2, special: named("<|endoftext|>", 50256), eos: "<|endoftext|>"},
		{name: "p50k_base", ranks: 50280, pattern: patternGPT2, special: named("<|endoftext|>", 50256), eos: "<|endoftext|>"},
		{name: "cl100k_base (GPT-4)", ranks: 100256, pattern: patternCL100K, eos: "<|endoftext|>",
			special: named("<|endoftext|>", 100257, "<|fim_prefix|>", 100258, "<|fim_middle|>", 100259, "<|fim_suffix|>", 100260, "<|endofprompt|>", 100276)},
		{name: "o200k_base (GPT-4o)", ranks: 199998, pattern: patternO200K, eos: "<|endoftext|>",
			special: named("<|endoftext|>", 199999, "<|endofprompt|>", 200018)},
		{name: "Llama 3", ranks: 128000, pattern: patternCL100K, special: llama3Special, bos: "<|begin_of_text|>", eos: "<|end_of_text|>"},
		{name: "Qwen", ranks: 151643, pattern: patternQwen2, nfc: true, special: qwenSpecial, eos: "<|endoftext|>"},
		{name: "Qwen3.5", ranks: 248044, pattern: patternQwen35, nfc: true, special: qwen35Special, eos: "<|endoftext|>"},
		{name: "GLM-4", ranks: 151329, pattern: patternCL100K, special: glm4Special, eos: "<|endoftext|>"},
		{name: "Kimi K2", ranks: 163584, pattern: patternKimi, special: kimiSpecial, bos: "[BOS]", eos: "[EOS]"},
	}
}

func controlToken(text string, id uint32) addedToken {
	return addedToken{Content: text, Special: true, id: id}
}

// named lists special tokens as text, id, text, id, …
func named(list ...any) func(int) []addedToken {
	return func(int) []addedToken {
		var out []addedToken
		for i := 0; i+1 < len(list); i += 2 {
			text, _ := list[i].(string)
			id, _ := list[i+1].(int)
			out = append(out, controlToken(text, uint32(id)))
		}
		return out
	}
}

// inOrder gives texts the ids after the ranks.
func inOrder(ranks int, texts ...string) []addedToken {
	out := make([]addedToken, len(texts))
	for i, t := range texts {
		out[i] = controlToken(t, uint32(ranks+i))
	}
	return out
}

// numbered appends prefix0suffix … to texts, from and to inclusive.
func numbered(texts []string, prefix string, from, to int, suffix string) []string {
	for i := from; i <= to; i++ {
		texts = append(texts, prefix+strconv.Itoa(i)+suffix)
	}
	return texts
}

func llama3Special(ranks int) []addedToken {
	texts := []string{
		"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>", "<|finetune_right_pad_id|>",
		"<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>",
	}
	return inOrder(ranks, numbered(texts, "<|reserved_special_token_", 3, 247, "|>")...)
}

func qwenSpecial(ranks int) []addedToken {
	return inOrder(ranks, numbered([]string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, "<|extra_", 0, 204, "|>")...)
}

func qwen35Special(ranks int) []addedToken {
	list := inOrder(ranks,
		"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
		"<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
		"<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
		"<tool_response>", "</tool_response>", "<think>", "</think>", "<|audio_start|>", "<|audio_end|>", "<tts_pad>", "<tts_text_bos>",
		"<tts_text_eod>", "<tts_text_bos_single>", "<|audio_pad|>")
	for i, t := range list { // what a reply is parsed by stays in its text
		list[i].Special = strings.HasPrefix(t.Content, "<|") || strings.HasPrefix(t.Content, "<tts_")
	}
	return list
}

func glm4Special(ranks int) []addedToken {
	return inOrder(ranks,
		"<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>",
		"<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>")
}

// kimiSpecial holds only the two that all versions share; tokenizer_config.json lists the rest.
func kimiSpecial(ranks int) []addedToken { return inOrder(ranks, "[BOS]", "[EOS]") }

// rankLine is one token of a rank file.
type rankLine struct {
	token []byte
	rank  uint32
}

// readRanks reads a rank file.
func readRanks(data []byte) ([]rankLine, error) {
	var lines []rankLine
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			continue
		}
		text, num, ok := bytes.Cut(line, []byte(" "))
		if !ok {
			return nil, fmt.Errorf("line %d: a token in base64 and a rank expected, found %q", n, clip(line))
		}
		token := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		size, err := base64.StdEncoding.Decode(token, text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not base64", n, clip(text))
		}
		rank, err := strconv.ParseUint(string(num), 10, 32)
		if err != nil || rank > maxTokenID {
			return nil, fmt.Errorf("line %d: %q is not a rank", n, clip(num))
		}
		lines = append(lines, rankLine{token[:size], uint32(rank)})
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("there are no ranks in it")
	}
	return lines, nil
}

// fromRanks builds the tokenizer of a rank file.
func fromRanks(data []byte, cfg *config) (*Tokenizer, error) {
	lines, err := readRanks(data)
	if err != nil {
		return nil, err
	}
	for _, f := range rankFamilies() {
		if f.ranks == len(lines) {
			if err := f.check(lines); err != nil {
				return nil, err
			}
			special := cfg.specials()
			if special == nil {
				special = f.special(f.ranks)
			}
			p := parts{info: Info{Source: "tiktoken", BOS: f.bos, EOS: f.eos}}
			if f.nfc {
				p.norm = normForm{unidata.NFC}
			}
			if f.bos != "" && cfg.addBOS(true) {
				p.post = surround(special, f.bos, "")
			}
			return rankTokenizer(p, lines, special, f.pattern)
		}
	}
	var known []string
	for _, f := range rankFamilies() {
		known = append(known, fmt.Sprintf("%s %d", f.name, f.ranks))
	}
	return nil, fmt.Errorf("a rank file of %d tokens is of no known family, so its pattern is not known (known: %v); use the model's tokenizer.json", len(lines), known)
}

// check reports ranks that stand twice or are missing: the ranks of a family go up from 0 without a hole, but for ids of
// its special tokens.
func (f rankFamily) check(lines []rankLine) error {
	ranks := make([]uint32, len(lines))
	for i, l := range lines {
		ranks[i] = l.rank
	}
	slices.Sort(ranks)
	next := uint32(0)
	for _, r := range ranks {
		for next < r && slices.ContainsFunc(f.special(f.ranks), func(s addedToken) bool { return s.id == next }) {
			next++
		}
		switch {
		case r < next:
			return fmt.Errorf("rank %d stands twice; the file is damaged, download it again", r)
		case r > next:
			return fmt.Errorf("rank %d is missing; the file is damaged, download it again", next)
		}
		next++
	}
	return nil
}

// surround is the template that puts a token before or behind a text; "" is none.
func surround(special []addedToken, before, behind string) template {
	var t template
	find := func(text string) {
		for _, s := range special {
			if text != "" && s.Content == text {
				t = append(t, templatePart{ids: []uint32{s.id}})
				return
			}
		}
	}
	find(before)
	t = append(t, templatePart{own: true})
	find(behind)
	return t
}

// rankTokenizer builds a byte-level tokenizer from ranks, special tokens and a pattern.
func rankTokenizer(p parts, lines []rankLine, special []addedToken, pattern string) (*Tokenizer, error) {
	v := newVocab(len(lines) + len(special))
	order := make([]int, 0, len(lines))
	var spell []byte
	for i, l := range lines {
		spell = appendByteChars(spell[:0], stringOf(l.token))
		if err := v.add(spell, uint64(l.rank)); err != nil {
			return nil, err
		}
		order = append(order, i)
	}
	for _, s := range special {
		if err := v.add(bytesOf(s.Content), uint64(s.id)); err != nil {
			return nil, err
		}
	}
	p.added = special
	n := len(v.entries)
	if v.build(); len(v.entries) != n {
		return nil, fmt.Errorf("a token stands in it twice")
	}
	m, err := newRankBPE(&bpe{voc: v, unk: noID, ignoreMerges: true}, sortedByRank(order, lines))
	if err != nil {
		return nil, err
	}
	split, err := newPreSplit(&component{role: "pattern", Pattern: &patternSpec{Regex: &pattern}, Behavior: "Isolated"})
	if err != nil {
		return nil, err
	}
	p.model, p.dec = m, decByteLevel{}
	p.pre = []preTokenizer{split, preByteLevel{}}
	p.ids += "pattern " + pattern
	return newTokenizer(p)
}

// sortedByRank orders indexes of lines, in place.
func sortedByRank(order []int, lines []rankLine) []int {
	slices.SortStableFunc(order, func(a, b int) int { return int(lines[a].rank) - int(lines[b].rank) })
	return order
}
