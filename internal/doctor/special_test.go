package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/tokenizer"
)

// sevenSpecials knows a, b, c and, as special tokens from id 3 on, <s> </s> <pad> <img> <x> <y> <reserved>.
const sevenSpecials = `{"version":"1.0","added_tokens":[
{"id":3,"content":"<s>","special":true},{"id":4,"content":"</s>","special":true},{"id":5,"content":"<pad>","special":true},
{"id":6,"content":"<img>","special":true},{"id":7,"content":"<x>","special":true},{"id":8,"content":"<y>","special":true},
{"id":9,"content":"<reserved>","special":true}],
"pre_tokenizer":null,"normalizer":null,"post_processor":null,"decoder":null,
"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2},"merges":[],"unk_token":"a"}}`

// TestSpecialIDsAreThoseOfTransformers: all_special_ids of transformers 5.24 for the same files.
func TestSpecialIDsAreThoseOfTransformers(t *testing.T) {
	local, err := tokenizer.FromJSON([]byte(sevenSpecials))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		config, older string
		want          []uint32
	}{
		{`{"bos_token":"<s>","eos_token":{"content":"</s>","lstrip":false},"add_bos_token":true,"additional_special_tokens":["<x>","<y>"]}`, "", []uint32{3, 4, 7, 8}},
		{`{"bos_token":"<s>","image_token":"<img>","extra_special_tokens":{"boi":"<x>"}}`, "", []uint32{3, 6, 7}},
		{`{"extra_special_tokens":["<x>"],"additional_special_tokens":["<y>"],"pad_token":null}`, "", []uint32{7}},
		{`{"unk_token":"a","extra_special_tokens":[],"additional_special_tokens":["<y>","<y>"]}`, "", []uint32{0, 8}},
		{`{"model_max_length":4}`, `{"bos_token":{"content":"<s>"},"pad_token":"<nowhere>"}`, []uint32{3}},
		{`{"added_tokens_decoder":{}}`, `{"bos_token":"<s>"}`, []uint32{}},
		{"", "", nil},
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{"tokenizer_config.json": tc.config, "special_tokens_map.json": tc.older} {
			if content == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := SpecialIDs(&Tokenizer{Local: local, Dir: dir})
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("SpecialIDs beside %s and %s: %v (-want +got):\n%s", tc.config, tc.older, err, diff)
		}
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "tokenizer_config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, err := SpecialIDs(&Tokenizer{Local: local, Dir: broken}); err == nil {
		t.Errorf("SpecialIDs beside a broken configuration = %v, want an error", ids)
	}
}
