package tokenizer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// sourceSeeds are small files of the formats beside tokenizer.json.
func sourceSeeds(t testing.TB) [][]byte {
	t.Helper()
	return [][]byte{rankSeed(300), tekkenSeed(), spmSeed(true), spmSeed(false), ggufSeed("gpt2"), ggufSeed("llama")}
}

// rankSeed is a rank file of the 256 bytes and some pairs.
func rankSeed(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		token := []byte{byte(i)}
		if i >= 256 {
			token = []byte{byte('a' + i%26), byte('a' + i/26)}
		}
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString(token), i)
	}
	return b.Bytes()
}

func tekkenSeed() []byte {
	var vocab []string
	for i := range 256 {
		vocab = append(vocab, fmt.Sprintf(`{"rank":%d,"token_bytes":%q}`, i, base64.StdEncoding.EncodeToString([]byte{byte(i)})))
	}
	vocab = append(vocab, `{"rank":256,"token_bytes":"YWI="}`)
	return fmt.Appendf(nil, `{"config":{"pattern":"\\p{L}+|\\P{L}","default_vocab_size":267,"default_num_special_tokens":10},"vocab":[%s]}`, strings.Join(vocab, ","))
}

func spmSeed(unigram bool) []byte {
	piece := func(text string, score float32, kind uint64) []byte {
		var p []byte
		p = protowire.AppendTag(p, 1, protowire.BytesType)
		p = protowire.AppendString(p, text)
		p = protowire.AppendTag(p, 2, protowire.Fixed32Type)
		p = protowire.AppendFixed32(p, math.Float32bits(score))
		p = protowire.AppendTag(p, 3, protowire.VarintType)
		return protowire.AppendVarint(p, kind)
	}
	var b []byte
	add := func(num protowire.Number, m []byte) {
		b = protowire.AppendTag(b, num, protowire.BytesType)
		b = protowire.AppendBytes(b, m)
	}
	add(1, piece("<unk>", 0, pieceUnknown))
	add(1, piece("<s>", 0, pieceControl))
	add(1, piece("</s>", 0, pieceControl))
	for i, t := range []string{"▁", "a", "b", "ab", "▁a", "▁ab"} {
		add(1, piece(t, -float32(i), pieceNormal))
	}
	kind := uint64(2)
	if unigram {
		kind = 1
	}
	add(2, protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), kind))
	add(3, protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "identity"))
	return b
}

func ggufSeed(model string) []byte {
	var b bytes.Buffer
	num := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	str := func(s string) { num(uint64(len(s))); b.WriteString(s) }
	text := func(key, v string) { str(key); num(uint32(ggufString)); str(v) }
	tokens := []string{"<s>", "a", "b", "ab", "▁"}
	b.WriteString("GGUF")
	num(uint32(3))
	num(uint64(0))
	num(uint64(7))
	text("tokenizer.ggml.model", model)
	text("tokenizer.ggml.pre", "llama3")
	text("tokenizer.chat_template", "{{ messages }}")
	str("tokenizer.ggml.tokens")
	num(uint32(ggufArray))
	num(uint32(ggufString))
	num(uint64(len(tokens)))
	for _, t := range tokens {
		str(t)
	}
	str("tokenizer.ggml.token_type")
	num(uint32(ggufArray))
	num(uint32(ggufInt32))
	num(uint64(len(tokens)))
	for i := range tokens {
		kind := int32(pieceNormal)
		if i == 0 {
			kind = pieceControl
		}
		num(kind)
	}
	str("tokenizer.ggml.bos_token_id")
	num(uint32(ggufUint32))
	num(uint32(0))
	if model == "gpt2" {
		str("tokenizer.ggml.merges")
		num(uint32(ggufArray))
		num(uint32(ggufString))
		num(uint64(1))
		str("a b")
	} else {
		str("tokenizer.ggml.scores")
		num(uint32(ggufArray))
		num(uint32(ggufFloat32))
		num(uint64(len(tokens)))
		for i := range tokens {
			num(-float32(i))
		}
	}
	return b.Bytes()
}

func TestOpenSources(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("tek/tekken.json", tekkenSeed())
	put("spm/tokenizer.model", spmSeed(false))
	put("spm/tokenizer_config.json", []byte(`{"bos_token":{"content":"<s>"},"eos_token":"</s>","add_eos_token":true,"chat_template":"{{ bos_token }}"}`))
	put("uni/tokenizer.model", spmSeed(true))
	put("gguf/m.gguf", ggufSeed("gpt2"))
	put("llama.gguf", ggufSeed("llama"))
	for _, c := range []struct {
		path, text string
		want       []uint32
		source     string
	}{
		{"tek", "ab a", []uint32{1, 266, 42, 107}, "tekken"},
		{"spm", "ab", []uint32{1, 8, 2}, "sentencepiece"},
		{"spm/tokenizer.model", "b", []uint32{1, 3, 5, 2}, "sentencepiece"},
		{"uni", "ab", []uint32{3, 6}, "sentencepiece"},
		{"gguf", "ab<s>a", []uint32{0, 3, 0, 1}, "gguf"},
		{"llama.gguf", "ab", []uint32{0, 4, 3}, "gguf"},
	} {
		tok, err := Open(filepath.Join(dir, c.path))
		if err != nil {
			t.Errorf("Open(%s): %v", c.path, err)
			continue
		}
		if got, err := tok.Encode(c.text, true); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Open(%s).Encode(%q) = %v, %v, want %v", c.path, c.text, got, err, c.want)
		}
		if got := tok.Info().Source; got != c.source {
			t.Errorf("Open(%s).Info().Source = %q, want %q", c.path, got, c.source)
		}
	}
	spm, err := Open(filepath.Join(dir, "spm"))
	if err != nil {
		t.Fatal(err)
	}
	if i := spm.Info(); i.BOS != "<s>" || i.EOS != "</s>" || i.ChatTemplate != "{{ bos_token }}" {
		t.Errorf("Info() = %+v, want what tokenizer_config.json says", i)
	}
}

func TestRanksOfNoFamily(t *testing.T) {
	_, err := parse(rankSeed(300), nil)
	if err == nil || !strings.Contains(err.Error(), "no known family") || !strings.Contains(err.Error(), "cl100k_base") {
		t.Errorf("parse(300 ranks): %v, want an error that lists the families", err)
	}
}

func TestGGUFBounds(t *testing.T) {
	good := ggufSeed("gpt2")
	for n := range len(good) {
		if _, err := readGGUF(bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Fatalf("readGGUF of %d of %d bytes: no error", n, len(good))
		}
	}
}
