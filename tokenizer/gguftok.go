package tokenizer

import (
	"fmt"
	"slices"
	"strings"
)

// ggufPre is what a pre-tokenizer name of llama.cpp stands for.
type ggufPre struct {
	names        string // separated by spaces
	patterns     []string
	ignoreMerges bool
	addBOS       bool
}

// ggufPres are the pre-tokenizer names known here. Patterns are those of the models' own files; llama.cpp writes some
// of them in another way with the same meaning for most texts.
func ggufPres() []ggufPre {
	return []ggufPre{
		{names: "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano", patterns: []string{patternCL100K}, ignoreMerges: true, addBOS: true},
		{names: "dbrx smaug-bpe glm4 chatglm-bpe", patterns: []string{patternCL100K}},
		{names: "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en jina-v2-code roberta-bpe " +
			"mpt olmo jais trillion granite-docling exaone4", patterns: []string{patternGPT2}},
		{names: "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2", patterns: []string{patternQwen2}},
		{names: "qwen35", patterns: []string{patternQwen35}},
		{names: "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", patterns: []string{`\p{N}`, patternGPT2}},
		{names: "deepseek-v3 hunyuan-dense joyai-llm hy_v4", patterns: []string{`\p{N}{1,3}`, patternKana, patternDeepseek}},
		{names: "gpt-4o llama4 kanana2 talkie minimax-m2", patterns: []string{patternO200K}},
		{names: "tekken", patterns: []string{patternTekken}, ignoreMerges: true, addBOS: true},
		{names: "kimi-k2", patterns: []string{patternKimi}, ignoreMerges: true},
	}
}

func findGGUFPre(name string) (ggufPre, error) {
	for _, p := range ggufPres() {
		if slices.Contains(strings.Fields(p.names), name) {
			return p, nil
		}
	}
	if name == "" || name == "default" {
		return ggufPre{}, fmt.Errorf("the GGUF file names no pre-tokenizer, so its ids cannot be computed; use the model's tokenizer.json")
	}
	return ggufPre{}, fmt.Errorf("GGUF pre-tokenizer %q is not known to this version; use the model's tokenizer.json", name)
}

// fromGGUF builds the tokenizer that a GGUF file describes.
func fromGGUF(g *gguf) (*Tokenizer, error) {
	tokens := g.texts["tokenizer.ggml.tokens"]
	kinds := g.numbers["tokenizer.ggml.token_type"]
	if len(tokens) == 0 {
		return nil, fmt.Errorf("the GGUF file has no vocabulary (tokenizer.ggml.tokens)")
	}
	if len(tokens) > maxTokenID {
		return nil, fmt.Errorf("the GGUF file has %d tokens; more than %d are not supported", len(tokens), maxTokenID)
	}
	if len(kinds) != 0 && len(kinds) != len(tokens) {
		return nil, fmt.Errorf("the GGUF file has %d tokens and %d token types", len(tokens), len(kinds))
	}
	p := parts{info: Info{Source: "gguf", ChatTemplate: g.text["tokenizer.chat_template"]}}
	const named = "tokenizer.chat_template."
	for key, text := range g.text {
		if name, ok := strings.CutPrefix(key, named); ok {
			if p.info.NamedTemplates == nil {
				p.info.NamedTemplates = map[string]string{}
			}
			p.info.NamedTemplates[name] = text
		}
	}
	switch kind := g.text["tokenizer.ggml.model"]; kind {
	case "gpt2":
		return g.bpe(p, tokens, kinds)
	case "llama":
		return g.spm(p, tokens, kinds)
	default:
		return nil, fmt.Errorf("GGUF tokenizer model %q is not supported; gpt2 and llama are", kind)
	}
}

// bpe builds a byte-level tokenizer.
func (g *gguf) bpe(p parts, tokens []string, kinds []float64) (*Tokenizer, error) {
	pre, err := findGGUFPre(g.text["tokenizer.ggml.pre"])
	if err != nil {
		return nil, err
	}
	v := newVocab(len(tokens))
	for i, t := range tokens {
		if err := v.add(bytesOf(t), uint64(i)); err != nil {
			return nil, err
		}
	}
	v.build()
	m := &bpe{voc: v, unk: noID, ignoreMerges: pre.ignoreMerges}
	list, ok := g.texts["tokenizer.ggml.merges"]
	if !ok {
		return nil, fmt.Errorf("the GGUF file has no merges (tokenizer.ggml.merges), which a tokenizer of model gpt2 needs; it is damaged, or use the model's tokenizer.json")
	}
	if err := m.setMergeLines(list); err != nil {
		return nil, err
	}
	p.model, p.dec = m, decByteLevel{}
	for _, x := range pre.patterns {
		s, err := newPreSplit(&component{role: "pattern", Pattern: &patternSpec{Regex: &x}, Behavior: "Isolated"})
		if err != nil {
			return nil, err
		}
		p.pre = append(p.pre, s)
		p.ids += "pattern " + x + "\n"
	}
	p.pre = append(p.pre, preByteLevel{})
	p.added = ggufAdded(tokens, kinds)
	g.surround(&p, tokens, pre.addBOS, false)
	return newTokenizer(p)
}

// setMergeLines reads merges as "left right"; the space that parts them is not the first character.
func (m *bpe) setMergeLines(lines []string) error {
	list := make([]merge, 0, len(lines))
	for i, line := range lines {
		at := -1
		if len(line) > 1 {
			at = strings.IndexByte(line[1:], ' ') + 1
		}
		if at < 1 {
			return fmt.Errorf("GGUF merge %d is %q; two tokens expected", i+1, clip(line))
		}
		left, ok1 := m.voc.idOf(line[:at])
		right, ok2 := m.voc.idOf(line[at+1:])
		result, ok3 := m.voc.idOf(line[:at] + line[at+1:])
		if !ok1 || !ok2 || !ok3 {
			return fmt.Errorf("GGUF merge %d, %q, uses or makes a token that is not in the vocabulary", i+1, clip(line))
		}
		list = append(list, newMerge(left, right, result))
	}
	if err := m.setMerges(list); err != nil {
		return err
	}
	m.setChars()
	m.bytes = m.newByteBPE()
	return nil
}

// ggufAdded lists the tokens that are found in a text before it is cut.
func ggufAdded(tokens []string, kinds []float64) []addedToken {
	var added []addedToken
	for i, k := range kinds {
		if (k == pieceControl || k == pieceUserDefined || k == pieceUnknown) && tokens[i] != "" {
			added = append(added, addedToken{Content: tokens[i], Special: k != pieceUserDefined})
		}
	}
	return added
}

// surround sets BOS and EOS and whether they are added.
func (g *gguf) surround(p *parts, tokens []string, addBOS, addEOS bool) {
	bos, eos := g.id("tokenizer.ggml.bos_token_id", -1), g.id("tokenizer.ggml.eos_token_id", -1)
	p.post = template{{own: true}}
	if bos >= 0 && bos < len(tokens) {
		p.info.BOS = tokens[bos]
		if g.flag("tokenizer.ggml.add_bos_token", addBOS) {
			p.post = append(template{{ids: []uint32{uint32(bos)}}}, p.post...)
		}
	}
	if eos >= 0 && eos < len(tokens) {
		p.info.EOS = tokens[eos]
		if g.flag("tokenizer.ggml.add_eos_token", addEOS) {
			p.post = append(p.post, templatePart{ids: []uint32{uint32(eos)}})
		}
	}
}

// spm builds a SentencePiece BPE tokenizer.
func (g *gguf) spm(p parts, tokens []string, kinds []float64) (*Tokenizer, error) {
	scores := g.numbers["tokenizer.ggml.scores"]
	if len(scores) != len(tokens) || len(kinds) != len(tokens) {
		return nil, fmt.Errorf("the GGUF file has %d tokens, %d scores and %d token types", len(tokens), len(scores), len(kinds))
	}
	m := &spmModel{
		byteFallback: true, prefixSpace: g.flag("tokenizer.ggml.add_space_prefix", true),
		bos: g.id("tokenizer.ggml.bos_token_id", 1), eos: g.id("tokenizer.ggml.eos_token_id", 2),
		addBOS: g.flag("tokenizer.ggml.add_bos_token", true), addEOS: g.flag("tokenizer.ggml.add_eos_token", false),
	}
	for i, t := range tokens {
		m.pieces = append(m.pieces, spmPiece{t, float32(scores[i]), int(kinds[i])})
	}
	return m.tokenizer(p, nil)
}
