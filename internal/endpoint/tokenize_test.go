package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// byteServer tokenizes into bytes, with 900 before and 901 behind where special tokens are asked for, in one shape.
func byteServer(t *testing.T, family string) (f *httptest.Server, atOnce, posts *atomic.Int64) {
	t.Helper()
	var now atomic.Int64
	atOnce, posts = new(atomic.Int64), new(atomic.Int64)
	f = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		if n := now.Add(1); n > atOnce.Load() {
			atOnce.Store(n)
		}
		defer now.Add(-1)
		time.Sleep(time.Millisecond)
		var b map[string]any
		json.NewDecoder(r.Body).Decode(&b)
		one := func(v any, special string) any {
			text, ok := v.(string)
			if !ok {
				return nil
			}
			ids := []uint32{}
			for _, c := range []byte(text) {
				ids = append(ids, uint32(c))
			}
			if b[special] == true {
				ids = append(append([]uint32{900}, ids...), 901)
			}
			return ids
		}
		read := func(key, special string) any {
			list, ok := b[key].([]any)
			if !ok || family != "sglang" && family != "lmdeploy" {
				return one(b[key], special)
			}
			all := []any{}
			for _, v := range list {
				all = append(all, one(v, special))
			}
			return all
		}
		back := func(tokens any) string {
			var s strings.Builder
			for _, v := range tokens.([]any) {
				if n := v.(float64); n < 256 {
					s.WriteByte(byte(n))
				} else {
					s.WriteString("<s>")
				}
			}
			return s.String()
		}
		answer := map[string]any{}
		switch family + " " + r.URL.Path {
		case "sglang /tokenize", "vllm /tokenize":
			if answer["tokens"] = read("prompt", "add_special_tokens"); b["model"] != "glm-5" || answer["tokens"] == nil {
				http.Error(w, `{"error":{"message":"no such model"}}`, 404)
				return
			}
		case "sglang /detokenize":
			if list := b["tokens"].([]any); len(list) == 0 || isNumber(list[0]) {
				answer["text"] = back(list)
				break
			}
			texts := []string{}
			for _, list := range b["tokens"].([]any) {
				texts = append(texts, back(list))
			}
			answer["text"] = texts
		case "vllm /detokenize":
			if list := b["tokens"].([]any); len(list) > 0 && !isNumber(list[0]) {
				http.Error(w, `{"error":{"message":"tokens: not a list of integers"}}`, 400)
				return
			}
			answer["prompt"] = back(b["tokens"])
		case "llama.cpp /tokenize":
			if answer["tokens"] = read("content", "add_special"); answer["tokens"] == nil {
				answer["tokens"] = []int{} // llama.cpp answers so where the key is not there
			}
		case "llama.cpp /detokenize":
			answer["content"] = back(b["tokens"])
		case "llama.cpp /v1/models":
			io.WriteString(w, `{"data":[{"id":"glm-5","meta":{"n_vocab":902}}]}`)
			return
		case "tgi /tokenize":
			ids, _ := read("inputs", "add_special_tokens").([]uint32)
			list := []map[string]any{}
			for _, id := range ids {
				list = append(list, map[string]any{"id": id, "text": "x"})
			}
			if b["inputs"] == nil {
				http.Error(w, `{"error":"missing field inputs","error_type":"validation"}`, 422)
				return
			}
			json.NewEncoder(w).Encode(list)
			return
		case "lmdeploy /v1/encode":
			answer["input_ids"] = read("input", "add_bos")
		default:
			http.NotFound(w, r)
			return
		}
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(f.Close)
	return f, atOnce, posts
}

func isNumber(v any) bool { _, ok := v.(float64); return ok }

func TestTokenizer(t *testing.T) {
	for _, tc := range []struct {
		family, shape string
		vocab         int
		back          bool
	}{
		{"sglang", "/tokenize of SGLang and vLLM", 0, true},
		{"vllm", "/tokenize of SGLang and vLLM", 0, true},
		{"llama.cpp", "/tokenize of llama.cpp", 902, true},
		{"tgi", "/tokenize of TGI", 0, false},
		{"lmdeploy", "/v1/encode of LMDeploy", 0, false},
	} {
		for _, engine := range []bench.Engine{bench.EngineUnknown, bench.Engine(tc.family)} {
			f, _, _ := byteServer(t, tc.family)
			tok, err := NewTokenizer(context.Background(), f.Client(), f.URL, TokenizerOptions{Served: "glm-5", Engine: engine})
			if err != nil {
				t.Errorf("%s: %v", tc.family, err)
				continue
			}
			bare, err1 := tok.Encode("hé", false)
			full, err2 := tok.Encode("hé", true)
			if err1 != nil || err2 != nil || !slices.Equal(bare, []uint32{'h', 0xc3, 0xa9}) || !slices.Equal(full, []uint32{900, 'h', 0xc3, 0xa9, 901}) {
				t.Errorf("%s: Encode = %v, %v, with special tokens %v, %v", tc.family, bare, err1, full, err2)
			}
			if tok.Shape() != tc.shape || tok.NumSpecial() != 2 || !tok.IsSpecial(900) || tok.IsSpecial('h') || tok.VocabSize() != tc.vocab {
				t.Errorf("%s: shape %q, %d special, vocabulary %d; want %q, 2, %d", tc.family, tok.Shape(), tok.NumSpecial(), tok.VocabSize(), tc.shape, tc.vocab)
			}
			text, err := tok.Decode(full, true)
			all, _ := tok.Decode(full, false)
			if tc.back && (err != nil || text != "hé" || all != "<s>hé<s>") || !tc.back && (err == nil || !strings.Contains(err.Error(), "not back")) {
				t.Errorf("%s: Decode = %q, %v; with special tokens %q", tc.family, text, err, all)
			}
		}
	}
}

func TestTokenizerNone(t *testing.T) {
	f := newFake(t, nil, nil)
	_, err := NewTokenizer(context.Background(), f.Client(), f.URL, TokenizerOptions{})
	var none *NoTokenizerError
	if !errors.As(err, &none) || len(none.Tried) < 4 || !strings.Contains(none.Tried[0], "/tokenize of SGLang and vLLM: HTTP 404: Not Found") {
		t.Errorf("NewTokenizer = %v, want a NoTokenizerError with what was tried", err)
	}
}

func TestTokenizerIsBoundedAndRemembers(t *testing.T) {
	f, atOnce, posts := byteServer(t, "vllm")
	tok, err := NewTokenizer(context.Background(), f.Client(), f.URL, TokenizerOptions{Served: "glm-5"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			if _, err := tok.Encode(strings.Repeat("x", i), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := atOnce.Load(); n > tokenizeAtOnce {
		t.Errorf("%d questions at once, want at most %d", n, tokenizeAtOnce)
	}
	before := posts.Load()
	ids, err := tok.Encode("xx", false)
	ids[0] = 7
	if again, _ := tok.Encode("xx", false); err != nil || again[0] != 'x' || posts.Load() != before {
		t.Errorf("Encode of a known text = %v, asked %d times more", again, posts.Load()-before)
	}
}
