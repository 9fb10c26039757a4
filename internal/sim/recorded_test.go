package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRepliesHaveTheShapeOfRecordedOnes compares replies with those of the real server, frame kind by frame kind: the same
// members with the same kinds of values.
func TestRepliesHaveTheShapeOfRecordedOnes(t *testing.T) {
	_, url := start(t, Config{Flavour: LlamaCpp, MaxModelLen: 1024, ServedModel: "glm-5"})
	for file, ask := range map[string][2]string{
		"chat_usage":        {"/v1/chat/completions", `{"messages":[{"role":"user","content":"Say hi"}],"max_tokens":4,"stream":true,"stream_options":{"include_usage":true}}`},
		"chat_plain":        {"/v1/chat/completions", `{"messages":[{"role":"user","content":"Say hi"}],"max_tokens":3,"stream":true}`},
		"chat_whole":        {"/v1/chat/completions", `{"messages":[{"role":"user","content":"Say hi"}],"max_tokens":1}`},
		"completion":        {"/v1/completions", `{"prompt":"Say hi","max_tokens":3,"stream":true}`},
		"completion_whole":  {"/v1/completions", `{"prompt":"Say hi","max_tokens":3}`},
		"completion_native": {"/completion", `{"prompt":"Say hi","n_predict":3,"stream":true}`},
		"too_long":          {"/v1/completions", `{"prompt":"` + strings.Repeat("! ? ", 1500) + `","max_tokens":3}`},
		"tokenize_pieces":   {"/tokenize", `{"content":"hello there","with_pieces":true}`},
	} {
		want, err := os.ReadFile(filepath.Join("testdata", "llamacpp-b11549", file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		_, got := post(t, url+ask[0], ask[1])
		if diff := cmp.Diff(shapes(t, string(want)), shapes(t, got)); diff != "" {
			t.Errorf("%s (-recorded +ours):\n%s", file, diff)
		}
	}
}

// shapes are the different shapes of the frames of a reply, in order of first appearance.
func shapes(t *testing.T, reply string) []string {
	t.Helper()
	var list []string
	for frame := range strings.SplitSeq(strings.TrimSpace(reply), "\n\n") {
		text := strings.TrimPrefix(frame, "data: ")
		s := text
		var v any
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			s = shape(v)
		}
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// shape writes a JSON value with every scalar replaced by its kind and lists by the shape of their first element.
func shape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for k, x := range v {
			parts = append(parts, k+":"+shape(x))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, " ") + "}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[" + shape(v[0]) + "]"
	case nil:
		return "null"
	}
	return fmt.Sprintf("%T", v)
}
