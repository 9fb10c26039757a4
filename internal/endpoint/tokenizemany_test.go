package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// TestTokenizerAsksManyTogether: the same ids and texts as one by one, each text asked once, in lists where the server takes
// them.
func TestTokenizerAsksManyTogether(t *testing.T) {
	var texts []string
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("text %d, é", i%130)) // 70 of them twice
	}
	for _, tc := range []struct {
		family         string
		engine         bench.Engine
		encode, decode int64 // questions
	}{
		{"sglang", bench.EngineSGLang, 3, 4}, // 130 texts and 200 lists of ids, 64 a question
		{"sglang", bench.EngineUnknown, 3, 4},
		{"vllm", bench.EngineVLLM, 130, 200},
		{"vllm", bench.EngineUnknown, 131, 201}, // a list is tried once
		{"llama.cpp", bench.EngineLlamaCpp, 130, 200},
		{"tgi", bench.EngineUnknown, 130, 0},
		{"lmdeploy", bench.EngineLMDeploy, 3, 0},
	} {
		f, atOnce, posts := byteServer(t, tc.family)
		one, err := NewTokenizer(context.Background(), f.Client(), f.URL, TokenizerOptions{Served: "glm-5", Engine: tc.engine})
		if err != nil {
			t.Fatalf("%s: %v", tc.family, err)
		}
		var want [][]uint32
		for _, text := range texts {
			ids, err := one.Encode(text, true)
			if err != nil {
				t.Fatalf("%s: %v", tc.family, err)
			}
			want = append(want, ids)
		}
		many, err := NewTokenizer(context.Background(), f.Client(), f.URL, TokenizerOptions{Served: "glm-5", Engine: tc.engine})
		if err != nil {
			t.Fatalf("%s: %v", tc.family, err)
		}
		before := posts.Load()
		got, err := many.EncodeAll(texts, true)
		if n := posts.Load() - before; err != nil || !cmp.Equal(want, got) || n != tc.encode {
			t.Errorf("%s, engine %q: EncodeAll = %v in %d questions, want %d and the ids of Encode: %s", tc.family, tc.engine, err, n, tc.encode, cmp.Diff(want, got))
		}
		before = posts.Load()
		got[0][0] = 7
		again, err := many.EncodeAll(texts[:3], true)
		if n := posts.Load() - before; err != nil || !cmp.Equal(want[:3], again) || n != 0 {
			t.Errorf("%s: EncodeAll of known texts = %v, %v in %d questions, want %v in none", tc.family, again, err, n, want[:3])
		}
		if n := atOnce.Load(); n > tokenizeAtOnce {
			t.Errorf("%s: %d questions at once, want at most %d", tc.family, n, tokenizeAtOnce)
		}
		if tc.decode == 0 {
			if _, err := many.DecodeAll(want, true); err == nil || !strings.Contains(err.Error(), "not back") {
				t.Errorf("%s: DecodeAll = %v, want an error", tc.family, err)
			}
			continue
		}
		before = posts.Load()
		back, err := many.DecodeAll(append(want, nil), true)
		if n := posts.Load() - before; err != nil || !cmp.Equal(append(texts[:200:200], ""), back) || n != tc.decode {
			t.Errorf("%s, engine %q: DecodeAll = %v in %d questions, want %d and the texts: %s", tc.family, tc.engine, err, n, tc.decode, cmp.Diff(texts, back))
		}
	}
}

// TestTokenizerListsAreBounded: no question carries over 1 MiB of text, but for a single text that has more.
func TestTokenizerListsAreBounded(t *testing.T) {
	sizes := []int{1 << 19, 1 << 19, 1, 3 << 20, 4, 5}
	parts := split(len(sizes), func(i int) int { return sizes[i] }, true)
	if want := []part{{0, 2}, {2, 3}, {3, 4}, {4, 6}}; !cmp.Equal(want, parts, cmp.AllowUnexported(part{})) {
		t.Errorf("split(%v) = %v, want %v", sizes, parts, want)
	}
}

// TestTokenizerFailsAsOneByOne: a list that the server chokes on is asked text by text, and the error is that of the text.
func TestTokenizerFailsAsOneByOne(t *testing.T) {
	var lists, singles atomic.Int64
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Prompt any }
		json.NewDecoder(r.Body).Decode(&b)
		texts, list := b.Prompt.([]any)
		if list {
			lists.Add(1)
		} else {
			singles.Add(1)
			texts = []any{b.Prompt}
		}
		ids := [][]int{}
		for _, text := range texts {
			if text == "bad" {
				http.Error(w, `{"message":"surrogates not allowed"}`, http.StatusInternalServerError)
				return
			}
			ids = append(ids, []int{len(text.(string))})
		}
		if list {
			json.NewEncoder(w).Encode(map[string]any{"tokens": ids})
		} else {
			json.NewEncoder(w).Encode(map[string]any{"tokens": ids[0]})
		}
	}))
	defer f.Close()
	tok, err := NewTokenizer(context.Background(), f.Client(), f.URL, TokenizerOptions{Engine: bench.EngineSGLang})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.EncodeAll([]string{"a", "bb"}, false); err != nil || lists.Load() != 1 {
		t.Fatalf("EncodeAll = %v in %d lists, want one list", err, lists.Load())
	}
	if _, err := tok.EncodeAll([]string{"c", "bad", "ddd"}, false); err == nil || !strings.Contains(err.Error(), "surrogates not allowed") {
		t.Errorf("EncodeAll with a text that fails = %v, want the server's words", err)
	}
	if got, err := tok.EncodeAll([]string{"c", "ddd"}, false); err != nil || lists.Load() != 3 || !cmp.Equal([][]uint32{{1}, {3}}, got) {
		t.Errorf("EncodeAll after that = %v, %v with %d lists in all; want one more list", got, err, lists.Load())
	}
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // answers too few
		io.WriteString(w, `{"tokens":[[1]]}`)
	})
	if got, err := tok.EncodeAll([]string{"x", "yy"}, false); err == nil {
		t.Errorf("EncodeAll of two texts with one answer = %v, want an error", got)
	}
}
