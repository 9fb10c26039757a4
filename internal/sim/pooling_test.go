package sim

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/sim/engine"
)

const rankBody = `{"model":"sim","query":"the river","documents":["old man","by the river at night","the city"]`

func TestRerankIsSortedInEachFlavoursForm(t *testing.T) {
	type entry struct {
		Index     int
		Score     float64
		Relevance float64 `json:"relevance_score"`
		Document  any
		Meta      struct {
			Prompt int `json:"prompt_tokens"`
		} `json:"meta_info"`
	}
	for _, tt := range []struct {
		flavour   Flavour
		path, top string
		n         int
		document  string
	}{
		{VLLM, "/v1/rerank", "", 3, `"document":{"multi_modal":null,"text":"by the river at night"}`},
		{VLLM, "/rerank", `,"top_n":1`, 1, `"document":{`},
		{VLLM, "/v2/rerank", `,"top_n":0`, 3, `"id":"rerank-`},
		{SGLang, "/v1/rerank", `,"top_n":2`, 2, `"document":"by the river at night"`},
		{SGLang, "/v1/rerank", `,"return_documents":false`, 3, `"meta_info"`},
		{LlamaCpp, "/v1/reranking", `,"top_n":2`, 2, `"object":"list"`},
		{LlamaCpp, "/rerank", "", 3, `"relevance_score"`},
	} {
		s, url := start(t, Config{Flavour: tt.flavour})
		code, body := post(t, url+tt.path, rankBody+tt.top+`}`)
		var got struct {
			Results []entry
			Usage   struct{ Prompt, Total int }
		}
		var list []entry
		var err error
		if tt.flavour == SGLang {
			err = json.Unmarshal([]byte(body), &list)
		} else {
			err = json.Unmarshal([]byte(body), &got)
			list = got.Results
		}
		if code != 200 || err != nil || len(list) != tt.n || list[0].Index != 1 || !strings.Contains(body, tt.document) {
			t.Errorf("%s %s%s: %d %s, %v; want %d entries, the second document first, %q", tt.flavour, tt.path, tt.top, code, body, err, tt.n, tt.document)
			continue
		}
		for i := 1; i < len(list); i++ {
			if a, b := list[i-1], list[i]; a.Score+a.Relevance < b.Score+b.Relevance || b.Score+b.Relevance < 0 || a.Score+a.Relevance > 1 {
				t.Errorf("%s %s: %+v before %+v, want falling scores of 0..1", tt.flavour, tt.path, a, b)
			}
		}
		prompt := 0
		for _, x := range s.Truths() {
			prompt += x.Prompt
			if x.Output != 0 || x.Finished < 0 {
				t.Errorf("%s: truth %+v, want a finished prompt without output", tt.flavour, x)
			}
		}
		if want := len(s.Truths()); want != 3 || tt.flavour != SGLang && !strings.Contains(body, `"prompt_tokens":`+strconv.Itoa(prompt)) {
			t.Errorf("%s: %d prompts, usage in %s; want 3 and %d tokens", tt.flavour, want, body, prompt)
		}
	}
}

// TestPairsCountOneSeparator: what a pair costs is what a client of vLLM counts for it.
func TestPairsCountOneSeparator(t *testing.T) {
	s, url := start(t, Config{Flavour: VLLM})
	post(t, url+"/score", `{"model":"sim","text_1":"the river","text_2":"the city"}`)
	a, b := len(s.tok.Encode("the river")), len(s.tok.Encode("the city"))
	if x := s.Truths()[0]; x.Prompt != a+b+1 {
		t.Errorf("a pair of %d and %d tokens counts %d, want one more than both", a, b, x.Prompt)
	}
}

func TestScores(t *testing.T) {
	for _, tt := range []struct {
		flavour    Flavour
		path, body string
		status, n  int
		want       string
	}{
		{VLLM, "/score", `{"text_1":"the river","text_2":["the river","old"]}`, 200, 2, `"object":"score"`},
		{VLLM, "/v1/score", `{"model":"sim","queries":["a","b"],"documents":["a","c"]}`, 200, 2, `"id":"score-`},
		{VLLM, "/v1/score", `{"queries":"a","items":["a","c","d"]}`, 200, 3, `"object":"list"`},
		{VLLM, "/v1/score", `{"data_1":["a","b"],"data_2":["a"]}`, 400, 0, "N and N"},
		{VLLM, "/v1/score", `{"data_1":"a"}`, 400, 0, "1 and 0"},
		{VLLM, "/v1/score", `{"model":"x","text_1":"a","text_2":"b"}`, 404, 0, "`x`"},
		{SGLang, "/v1/score", `{"query":"the river is","items":[" deep"," old"],"label_token_ids":[60,61],"apply_softmax":true}`, 200, 2, `"object":"scoring"`},
		{SGLang, "/v1/score", `{"query":[60,61],"items":[[62],[63],[64]],"label_token_ids":[60,61]}`, 200, 3, `"completion_tokens":0`},
		{SGLang, "/v1/score", `{"query":"a","items":["b"]}`, 400, 0, "label_token_ids"},
		{SGLang, "/v1/score", `{"query":"a","items":["b"],"label_token_ids":[99999999]}`, 400, 0, "vocabulary"},
		{SGLang, "/v1/rerank", `{"query":" ","documents":["a"]}`, 400, 0, "query"},
		{SGLang, "/v1/rerank", `{"query":"a","documents":["a"],"top_n":0}`, 400, 0, "top_n"},
		{VLLM, "/rerank", `{"query":"a","documents":[]}`, 400, 0, "documents"},
		{VLLM, "/rerank", `{"query":"a","documents":[{"content":[]}]}`, 400, 0, "not valid"},
		{TGI, "/rerank", rankBody + `}`, 404, 0, "Not Found"},
	} {
		_, url := start(t, Config{Flavour: tt.flavour})
		code, body := post(t, url+tt.path, tt.body)
		var got struct {
			Data   []struct{ Score float64 }
			Scores [][]float64
		}
		if code == 200 {
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
		}
		if code != tt.status || len(got.Data)+len(got.Scores) != tt.n || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s %s: %d %s; want %d, %d scores, %q", tt.flavour, tt.path, tt.body, code, body, tt.status, tt.n, tt.want)
		}
		for _, row := range got.Scores {
			sum := row[0] + row[1]
			if want := map[bool]float64{true: 1, false: 0.9}[strings.Contains(tt.body, "softmax")]; math.Abs(sum-want) > 1e-9 || row[0] <= 0 {
				t.Errorf("labels have %v together, want %v", sum, want)
			}
		}
	}
}

// TestPromptsAreTruncated: vLLM's own client asks for -1, which cuts to what fits.
func TestPromptsAreTruncated(t *testing.T) {
	long := strings.Repeat("the river ", 40)
	for _, tt := range []struct {
		path, body string
		status     int
		want       int // prompt tokens of the last prompt
	}{
		{"/v1/embeddings", `{"model":"sim","input":"` + long + `","truncate_prompt_tokens":-1}`, 200, 50},
		{"/v1/embeddings", `{"model":"sim","input":"` + long + `","truncate_prompt_tokens":7}`, 200, 7},
		{"/v1/embeddings", `{"model":"sim","input":"` + long + `"}`, 400, 0},
		{"/v1/embeddings", `{"model":"sim","input":"` + long + `","truncate_prompt_tokens":51}`, 400, 0},
		{"/v1/rerank", `{"model":"sim","query":"the river","documents":["` + long + `"],"truncate_prompt_tokens":-1}`, 200, 50},
		{"/v1/rerank", `{"model":"sim","query":"the river","documents":["` + long + `"],"truncate_prompt_tokens":-2}`, 400, 0},
	} {
		s, url := start(t, Config{Flavour: VLLM, MaxModelLen: 50})
		code, body := post(t, url+tt.path, tt.body)
		n := 0
		for _, x := range s.Truths() {
			n = x.Prompt
		}
		if code != tt.status || n != tt.want {
			t.Errorf("%s %.80s…: %d %.100s, %d prompt tokens; want %d, %d", tt.path, tt.body, code, body, n, tt.status, tt.want)
		}
	}
}

// TestRerankTakesThePrefillsTime: pairs share the steps of a batch, each step as long as the model says.
func TestRerankTakesThePrefillsTime(t *testing.T) {
	p := &engine.Params{Schedule: engine.VLLM, Step: engine.StepModel{Base: 5, PerToken: 1}, TokenBudget: 8, PageSize: 4}
	s, url := start(t, Config{Flavour: VLLM, Engine: p})
	post(t, url+"/rerank", rankBody+`}`)
	total, last := 0, 0.0
	for _, x := range s.Truths() {
		total += x.Prompt
		last = max(last, (x.Finished - x.Scheduled).Seconds())
	}
	first, end := s.Truths()[0].Scheduled, s.Truths()[0].Finished
	for _, x := range s.Truths() {
		first, end = min(first, x.Scheduled), max(end, x.Finished)
	}
	steps := (total + 7) / 8
	if want := float64(5*steps+total) / 1e3; math.Abs((end-first).Seconds()-want) > 1e-9 || last == 0 {
		t.Errorf("%d tokens in steps of 8 took %v, want %v s", total, end-first, want)
	}
}
