package dataset

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// server is greedy as a server would be: it counts what it is asked.
type server struct {
	*greedy
	mute bool // no way back

	mu     sync.Mutex
	single int   // questions of one
	lists  []int // sizes of the others
	fail   string
}

func (s *server) Encode(text string, special bool) ([]uint32, error) {
	s.mu.Lock()
	s.single++
	s.mu.Unlock()
	return s.greedy.Encode(text, special)
}

func (s *server) Decode(ids []uint32, skip bool) (string, error) {
	if s.mute {
		return "", errNoWayBack
	}
	s.mu.Lock()
	s.single++
	s.mu.Unlock()
	return s.greedy.Decode(ids, skip)
}

func (s *server) EncodeAll(texts []string, special bool) ([][]uint32, error) {
	s.lists = append(s.lists, len(texts))
	var out [][]uint32
	for _, text := range texts {
		if s.fail != "" && strings.Contains(text, s.fail) {
			return nil, errors.New("the server is gone")
		}
		ids, _ := s.greedy.Encode(text, special)
		out = append(out, ids)
	}
	return out, nil
}

func (s *server) DecodeAll(ids [][]uint32, skip bool) ([]string, error) {
	if s.mute {
		return nil, errNoWayBack
	}
	s.lists = append(s.lists, len(ids))
	var out []string
	for _, list := range ids {
		text, _ := s.greedy.Decode(list, skip)
		out = append(out, text)
	}
	return out, nil
}

var errNoWayBack = fmt.Errorf("no way back: %w", errors.ErrUnsupported)

// stumbling is greedy with a way back that fails.
type stumbling struct{ *greedy }

func (stumbling) Decode([]uint32, bool) (string, error) { return "", errors.New("the server is busy") }

// TestAFailingWayBackIsNoOther: prompts made in another way for one failure would not be those of the seed.
func TestAFailingWayBackIsNoOther(t *testing.T) {
	if _, err := build(spec("random", nil), Inputs{Tokenizer: stumbling{english(1)}}); err == nil || !strings.Contains(err.Error(), "the server is busy") {
		t.Errorf("random with a tokenizer that fails to decode: %v, want its error", err)
	}
}

// deaf is greedy without a way back, asked one by one.
type deaf struct{ *greedy }

func (deaf) Decode([]uint32, bool) (string, error) { return "", errNoWayBack }

// manyRows are n rows, each of a pattern with # for the row's number and ~ for a few words.
func manyRows(n int, pattern, end string) string {
	var rows []string
	for i := range n {
		rows = append(rows, strings.NewReplacer("#", fmt.Sprint(i), "~", strings.Repeat(" word", i%7+2)).Replace(pattern))
	}
	return strings.Join(rows, end)
}

// TestTogetherIsAsOneByOne: a tokenizer that is asked by lists gives the same requests and notes as one that is asked one by
// one, with few questions.
func TestTogetherIsAsOneByOne(t *testing.T) {
	const rows = 60
	lines := func(pattern string) func(*bench.Spec) {
		p := file(t, "rows.jsonl", manyRows(rows+20, pattern, "\n"))
		return func(s *bench.Spec) { s.Dataset.Path = p }
	}
	pairs := file(t, "s.json", "["+manyRows(rows+20, `{"conversations":[{"from":"human","value":"Number # says"},{"from":"gpt","value":"so~"}]}`, ",")+"]")
	shareGPT := func(s *bench.Spec) { s.Dataset.Path = pairs }
	chat := func(s *bench.Spec) { s.Target.API = bench.APIChat }
	trace := lines(`{"timestamp":#,"input_length":7#,"output_length":5,"hash_ids":[1,#]}`)
	for _, tc := range []struct {
		name  string
		s     *bench.Spec
		mute  bool
		lists int // at most so many
	}{
		{"random", spec("random", nil), false, 3},
		{"random for chat", spec("random", chat), false, 4},
		{"random, strict", spec("random", func(s *bench.Spec) { shareGPT(s); s.Strict = true }), false, 4},
		{"random without a way back", spec("random", nil), true, 12},
		{"random-ids", spec("random-ids", nil), false, 16},
		{"sharegpt", spec("sharegpt", shareGPT), false, 2},
		{"sharegpt of vLLM", vllmSpec("sharegpt", shareGPT), false, 2},
		{"custom", spec("custom", lines(`{"conversations":[{"content":"Number #"},{"content":"so~"}]}`)), false, 2},
		{"custom of vLLM", vllmSpec("custom", lines(`{"prompt":"Number #~","output_tokens":5}`)), false, 2},
		{"openai", spec("openai", func(s *bench.Spec) {
			lines(`{"messages":[{"role":"user","content":"Number #~"}],"tools":[{"a":1}]}`)(s)
			chat(s)
		}), false, 2},
		{"longbench_v2", spec("longbench_v2", lines(`{"context":"Number #","question":"so~","choice_A":"a","choice_B":"b","choice_C":"c","choice_D":"d"}`)), false, 1},
		{"speed-bench", spec("speed-bench", lines(`{"category":"mixed","turns":["Number #~"]}`)), false, 1},
		{"mooncake", spec("mooncake", func(s *bench.Spec) {
			trace(s)
			s.Dataset.Mooncake = &bench.Mooncake{Rounds: 1, Slowdown: 1}
		}), false, 27},
		{"mooncake of chat, in rounds", spec("mooncake", func(s *bench.Spec) {
			trace(s)
			chat(s)
			s.Dataset.Mooncake = &bench.Mooncake{Rounds: 2, Slowdown: 1}
		}), false, 27},
		{"agentic-trace", spec("agentic-trace", func(s *bench.Spec) {
			chat(s)
			s.Dataset.Path = file(t, "a.json", `{"conversations":[`+manyRows(rows+20, `[{"messages":[{"role":"user","content":"Number #~"}],"prompt_tokens":3}]`, ",")+"]}")
		}), false, 1},
		{"generated-shared-prefix", sharedPrefix(func(s *bench.Spec) { s.Dataset.SharedPrefix.PromptsPerGroup = 20 }), false, 16},
		{"prefix_repetition", vllmSpec("prefix_repetition", func(s *bench.Spec) {
			s.Dataset.VLLM.Prefixes, s.Dataset.VLLM.PrefixTokens, s.Dataset.VLLM.SuffixTokens = 3, 20, 20
		}), false, 16},
	} {
		tc.s.Dataset.Rows = rows
		in := Inputs{Tokenizer: english(1), Template: plainTemplate, BOS: "<s>"}
		if tc.mute {
			in.Tokenizer = deaf{english(1)}
		}
		want, err := build(tc.s, in)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		many := &server{greedy: english(1), mute: tc.mute}
		in.Tokenizer = many
		got, err := build(tc.s, in)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(bench.Count{})); err != nil || diff != "" {
			t.Errorf("%s: asked together %v (-one by one +together):\n%s", tc.name, err, diff)
		}
		if len(many.lists) > tc.lists {
			t.Errorf("%s: %d lists %v, want at most %d", tc.name, len(many.lists), many.lists, tc.lists)
		}
	}
}

// TestTogetherFails: the error of a list is the error of the data set, and nobody is left waiting.
func TestTogetherFails(t *testing.T) {
	p := file(t, "v.jsonl", manyRows(700, `{"prompt":"Number #~","output_tokens":5}`, "\n"))
	s := vllmSpec("custom", func(s *bench.Spec) { s.Dataset.Path, s.Dataset.Rows = p, 700 })
	many := &server{greedy: english(1), fail: "Number 3"}
	if _, err := build(s, Inputs{Tokenizer: many}); err == nil || !strings.Contains(err.Error(), "the server is gone") || len(many.lists) != 1 {
		t.Errorf("a tokenizer that fails: %v after lists %v, want its error after one list", err, many.lists)
	}
}
