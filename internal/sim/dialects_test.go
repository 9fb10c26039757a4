package sim

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/wire"
)

func TestEveryDialectStreams(t *testing.T) {
	for _, tt := range []struct {
		flavour    Flavour
		path, body string
		frames     int    // events before any end marker
		last       string // what the last of them contains
		done       bool
	}{
		{TRT, "/v2/models/ensemble/generate_stream", `{"text_input":"the river","max_tokens":6,"min_length":6,"end_id":1048576,"stream":true}`, 6, `"text_output":"`, false},
		{TGI, "/generate_stream", `{"inputs":"the river","parameters":{"max_new_tokens":6}}`, 6, `"generated_tokens":6`, false},
		{LlamaCpp, "/completion", `{"prompt":"the river","n_predict":6,"ignore_eos":true,"stream":true}`, 7, `"stop":true`, false},
		{Truss, "/v1/models/model:predict", `{"prompt":"the river","max_tokens":6,"ignore_eos":true,"stream":true}`, 6, `"finish_reason":"length"`, true},
		{LMDeploy, "/v1/completions", `{"model":"sim","prompt":"the river","max_tokens":6,"ignore_eos":true,"stream":true}`, 6, `"finish_reason":"length"`, true},
		{TGI, "/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":"x"}],"max_tokens":6,"ignore_eos":true,"stream":true}`, 7, `"delta":{"role":"assistant","content":`, true},
	} {
		_, url := start(t, Config{Flavour: tt.flavour, AnswerTokens: 1000})
		code, body := post(t, url+tt.path, tt.body)
		body, done := strings.CutSuffix(strings.TrimSpace(body), "data: [DONE]")
		list := strings.Split(strings.TrimSpace(body), "\n\n")
		if code != 200 || len(list) != tt.frames || done != tt.done || !strings.Contains(list[len(list)-1], tt.last) {
			t.Errorf("%s %s: %d, %d frames, end marker %v, last %q; want %d, %v, %q", tt.flavour, tt.path, code, len(list), done, list[len(list)-1], tt.frames, tt.done, tt.last)
		}
		for _, frame := range list {
			if !json.Valid([]byte(strings.TrimPrefix(frame, "data: "))) {
				t.Errorf("%s: frame %q is not JSON", tt.flavour, frame)
			}
		}
		whole := strings.Replace(strings.Replace(tt.body, `,"stream":true`, "", 1), `"inputs"`, `"x":1,"inputs"`, 1)
		path := strings.TrimSuffix(tt.path, "_stream")
		if code, body := post(t, url+path, whole); code != 200 || !json.Valid([]byte(body)) {
			t.Errorf("%s %s whole: %d %s", tt.flavour, path, code, body)
		}
	}
}

func TestFramingOptions(t *testing.T) {
	const ask = `{"model":"sim","messages":[{"role":"user","content":"x"}],"max_tokens":7,"ignore_eos":true,"stream":true}`
	for _, tt := range []struct {
		name   string
		c      Config
		has    string
		hasNot string
		frames int // of content
	}{
		{"plain", Config{}, "data: ", "\r", 7},
		{"CRLF", Config{CRLF: true}, "\r\n\r\n", "}\n\n", 7},
		{"no space", Config{NoSpace: true}, "data:{", "data: {", 7},
		{"three tokens a chunk", Config{TokensPerChunk: 3}, "[DONE]", "\r", 3},
		{"usage always", Config{Usage: UsageAlways}, `"completion_tokens":7`, "\r", 7},
		{"usage never", Config{Usage: UsageNever}, "[DONE]", `"usage"`, 7},
		{"usage every chunk", Config{Usage: UsageEveryChunk}, `"completion_tokens":4`, "\r", 7},
		{"keep-alive", Config{KeepAlive: 5 * time.Millisecond, TTFT: 30 * time.Millisecond}, ": keep-alive\n\n", "\r", 7},
		{"tensorrt's padded role chunk", Config{Flavour: TRT}, "} \n\n", `"content":""`, 7},
	} {
		_, url := start(t, tt.c)
		_, body := post(t, url+"/v1/chat/completions", ask)
		if n := strings.Count(body, `"content":"`) - strings.Count(body, `"content":""`); !strings.Contains(body, tt.has) || strings.Contains(body, tt.hasNot) || n != tt.frames {
			t.Errorf("%s: %d content frames in %q; want %d, %q in it and not %q", tt.name, n, body, tt.frames, tt.has, tt.hasNot)
		}
	}
}

func TestEarlyRoleComesBeforeTheFirstToken(t *testing.T) {
	s, url := start(t, Config{EarlyRole: true, TTFT: 50 * time.Millisecond})
	resp, body := postStream(t, url+"/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":"x"}],"max_tokens":2,"stream":true}`)
	buf := make([]byte, 1<<12)
	began := time.Now()
	n, err := body.Read(buf)
	if err != nil || !strings.Contains(string(buf[:n]), `"role":"assistant"`) || time.Since(began) > 40*time.Millisecond || resp != 200 {
		t.Errorf("after %v: %q, %v; want the role chunk at once", time.Since(began), buf[:n], err)
	}
	rest := make([]byte, 1<<12)
	total := ""
	for {
		n, err := body.Read(rest)
		total += string(rest[:n])
		if err != nil {
			break
		}
	}
	if strings.Contains(total, `"role"`) || !strings.Contains(total, "[DONE]") {
		t.Errorf("the rest is %q, want no second role chunk", total)
	}
	s.driver.wait()
}

func TestEmbeddingsAreUnitVectors(t *testing.T) {
	_, url := start(t, Config{})
	_, body := post(t, url+"/v1/embeddings", `{"model":"sim","input":["the river","the city","the river"]}`)
	var got struct {
		Data []struct {
			Embedding []float64
		}
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Data) != 3 {
		t.Fatalf("%v in %s", err, body)
	}
	norm, same, other := 0.0, 0.0, 0.0
	for i, x := range got.Data[0].Embedding {
		norm += x * x
		same += math.Abs(x - got.Data[2].Embedding[i])
		other += math.Abs(x - got.Data[1].Embedding[i])
	}
	if math.Abs(norm-1) > 1e-3 || same != 0 || other < 0.1 || got.Usage.Prompt < 6 {
		t.Errorf("norm %v, distance of equals %v, of others %v, usage %+v", norm, same, other, got.Usage)
	}
	if _, body := post(t, url+"/v1/embeddings", `{"model":"sim","input":"x","encoding_format":"base64"}`); !strings.Contains(body, `"embedding":"`) {
		t.Errorf("base64 gave %s", body)
	}
}

func TestIntrospectionNamesTheEngine(t *testing.T) {
	for _, tt := range []struct {
		flavour Flavour
		path    string
		words   []string
	}{
		{SGLang, "/v1/models", []string{`"id":"glm-5"`, `"owned_by":"sglang"`, `"root":"glm-5"`, `"max_model_len":131072`}},
		{SGLang, "/model_info", []string{`"model_path":"org/GLM-5"`, `"tokenizer_path":"servemark/sim-4k"`, `"is_generation":true`}},
		{SGLang, "/get_server_info", []string{`"api_key":"secret"`, `--api-key secret`, `"max_total_num_tokens":1000000`, `"version":"0.5.23"`}},
		{VLLM, "/v1/models", []string{`"owned_by":"vllm"`, `"root":"org/GLM-5"`}},
		{VLLM, "/version", []string{`"version":"0.33.0"`}},
		{VLLM, "/metrics", []string{`vllm:cache_config_info{engine="0",block_size="16"`}},
		{LlamaCpp, "/props", []string{`"build_info":"b11549`, `"model_path":"org/GLM-5"`, `"total_slots"`}},
		{LlamaCpp, "/slots", []string{`"is_processing":false`}},
		{LlamaCpp, "/v1/models", []string{`"owned_by":"llamacpp"`, `"n_ctx_train"`}},
		{TGI, "/info", []string{`"router":"text-generation-router"`, `"model_id":"org/GLM-5"`}},
		{LMDeploy, "/v1/models", []string{`"owned_by":"lmdeploy"`}},
		{TRT, "/version", []string{wire.TRTVersion}},
	} {
		s, url := start(t, Config{Flavour: tt.flavour, ServedModel: "glm-5", Model: "org/GLM-5"})
		s.cfg.APIKey = "" // asked without a key below; the dump is made from the configuration
		if strings.Contains(tt.path, "server_info") {
			s.cfg.APIKey = "secret"
		}
		body := getWithKey(t, url+tt.path, "secret")
		for _, want := range tt.words {
			if !strings.Contains(body, want) {
				t.Errorf("%s GET %s = %s, want %s in it", tt.flavour, tt.path, body, want)
			}
		}
	}
}

func TestOtherTokenizers(t *testing.T) {
	_, url := start(t, Config{Flavour: TGI})
	if _, body := post(t, url+"/tokenize", `{"inputs":"the river"}`); !strings.Contains(body, `"text":" river"`) || !strings.Contains(body, `"stop":9`) {
		t.Errorf("TGI /tokenize = %s", body)
	}
	_, url = start(t, Config{Flavour: LMDeploy})
	if _, body := post(t, url+"/v1/encode", `{"input":[" the river","x"]}`); !strings.Contains(body, `"length":[2,1]`) {
		t.Errorf("LMDeploy /v1/encode = %s", body)
	}
}

func TestBodiesAreLogged(t *testing.T) {
	var log strings.Builder
	_, url := start(t, Config{LogBodies: &log})
	post(t, url+"/v1/completions", `{"model": "sim",  "prompt": "<x>", "max_tokens": 1}`)
	post(t, url+"/v1/completions", "{\"model\":\n\"sim\",\"prompt\":\"x\",\"max_tokens\":1}")
	post(t, url+"/v1/completions", `{"model":`)
	want := `{"path":"/v1/completions","body":{"model": "sim",  "prompt": "<x>", "max_tokens": 1}}` + "\n" +
		`{"path":"/v1/completions","body":{"model":"sim","prompt":"x","max_tokens":1}}` + "\n" + `{"path":"/v1/completions","body":"{\"model\":"}` + "\n"
	if log.String() != want {
		t.Errorf("log = %s, want %s", log.String(), want)
	}
}

func TestSpeculationIsTold(t *testing.T) {
	c := busy(SGLang, engine.SGLang)
	c.Engine.KVTokens = 4000
	s, url := start(t, c)
	_, body := post(t, url+"/generate", `{"text":"the river","sampling_params":{"max_new_tokens":200,"ignore_eos":true},"stream":true}`)
	list, _ := events(t, body)
	var last struct {
		Meta struct {
			Accept float64 `json:"spec_accept_length"`
			Verify int     `json:"spec_verify_ct"`
		} `json:"meta_info"`
	}
	frames := strings.Split(strings.TrimSpace(body), "\n\n")
	if err := json.Unmarshal([]byte(strings.TrimPrefix(frames[len(frames)-2], "data: ")), &last); err != nil {
		t.Fatal(err)
	}
	want := 199 / float64(len(list)-1) // E[m] is (1−0.6³)/(1−0.6) = 1.96
	if math.Abs(last.Meta.Accept-want) > 1e-3 || last.Meta.Verify != len(list)-1 || want < 1.6 || want > 2.3 {
		t.Errorf("accept length %v after %d verifications, frames say %v after %d", last.Meta.Accept, last.Meta.Verify, want, len(list)-1)
	}
	if body := get(t, url+"/metrics"); metric(body, "sglang:spec_verify_calls_total") != strconv.Itoa(len(list)-1) {
		t.Errorf("/metrics says %s verifications, want %d", metric(body, "sglang:spec_verify_calls_total"), len(list)-1)
	}
	s.driver.wait()
}

// TestListsToTokenize: SGLang and LMDeploy take lists of texts, of one text too, and SGLang lists of ids; the others take one
// text a question.
func TestListsToTokenize(t *testing.T) {
	for _, tt := range []struct {
		flavour    Flavour
		path, body string
		code       int
		has        string
	}{
		{SGLang, "/tokenize", `{"prompt":[" the river","x"]}`, 200, `"count":[2,1]`},
		{SGLang, "/tokenize", `{"prompt":["x"]}`, 200, `"count":[1]`},
		{VLLM, "/tokenize", `{"prompt":["x"]}`, 400, "valid string"},
		{LlamaCpp, "/tokenize", `{"content":["x"]}`, 400, ""},
		{TGI, "/tokenize", `{"inputs":["x"]}`, 400, "inputs of type string"},
		{LMDeploy, "/v1/encode", `{"input":["x"]}`, 200, `"length":[1]`},
		{LMDeploy, "/v1/encode", `{"input":"x"}`, 200, `"length":1`},
		{LMDeploy, "/v1/encode", `{}`, 400, "input"},
		{SGLang, "/detokenize", `{"tokens":[[300,301],[]]}`, 200, `"text":["`},
		{SGLang, "/detokenize", `{"tokens":[300]}`, 200, `"text":"`},
		{SGLang, "/detokenize", `{"tokens":[[300],[-1]]}`, 400, "vocabulary"},
		{VLLM, "/detokenize", `{"tokens":[[300]]}`, 400, "integers"},
		{LlamaCpp, "/detokenize", `{"tokens":[[300]]}`, 400, "integers"},
	} {
		_, url := start(t, Config{Flavour: tt.flavour})
		if code, body := post(t, url+tt.path, tt.body); code != tt.code || !strings.Contains(body, tt.has) {
			t.Errorf("%s %s %s = %d %s; want %d with %s", tt.flavour, tt.path, tt.body, code, body, tt.code, tt.has)
		}
	}
}
