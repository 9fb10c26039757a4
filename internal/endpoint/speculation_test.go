package endpoint

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

// TestSpeculationOfARun: only what was counted between the two readings is of this run.
func TestSpeculationOfARun(t *testing.T) {
	n, m := bench.Counted, bench.Measured
	const vllm = `# HELP vllm:spec_decode_num_drafts_total x
vllm:spec_decode_num_drafts_total{engine="0",model_name="a{b}"} 100.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="a"} 10
vllm:spec_decode_num_draft_tokens_total{engine="0"} 330
vllm:spec_decode_num_accepted_tokens_total{engine="0"} 150
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 90
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 60
`
	const later = `vllm:spec_decode_num_drafts_total{engine="0"} 160.0 1700000000
vllm:spec_decode_num_draft_tokens_total{engine="0"} 480
vllm:spec_decode_num_accepted_tokens_total{engine="0"} 250
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 135
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 85
`
	for _, tc := range []struct {
		name, before, after string
		want                *bench.Speculation
	}{
		{"vLLM", vllm, later, &bench.Speculation{Drafts: 50, DraftTokens: n(150), Accepted: n(100), AcceptLength: m(3), ByPosition: []float64{0.9, 0.5}}},
		{"SGLang", "sglang:spec_verify_calls_total 5\nsglang:generation_tokens_total{a=\"b\"} 20\n", "sglang:spec_verify_calls_total 15\nsglang:generation_tokens_total{a=\"b\"} 45\n",
			&bench.Speculation{Drafts: 10, AcceptLength: m(2.5)}},
		{"nothing counted before", "up 1\n", "sglang:spec_verify_calls_total 10\nsglang:generation_tokens_total 25\n", &bench.Speculation{Drafts: 10, AcceptLength: m(2.5)}},
		{"none", "up 1\n", "up 1\n", nil},
		{"nothing verified", vllm, vllm, nil},
		{"started anew", later, vllm[:120], nil},
		{"garbage", "vllm:spec_decode_num_drafts_total{ 3\nvllm:spec_decode_num_drafts_total\nvllm:spec_decode_num_drafts_total x\n", later, nil},
	} {
		got := parseCounters(tc.after).Since(parseCounters(tc.before))
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(bench.Count{}, bench.Measure{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestNoCounters: a server that did not answer before the run tells nothing about it.
func TestNoCounters(t *testing.T) {
	if got := parseCounters("sglang:spec_verify_calls_total 10\nsglang:generation_tokens_total 25\n").Since(Counters{}); got != nil {
		t.Errorf("Since(nothing) = %+v, want nil: the counters may be older than the run", got)
	}
}

func TestProfile(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 100)
		n, _ := r.Body.Read(body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body[:n]))
		if r.URL.Path == "/stop_profile" {
			http.Error(w, `{"error":{"message":"no profile is running"}}`, http.StatusBadRequest)
		}
	}))
	defer server.Close()
	if err := StartProfile(t.Context(), server.Client(), server.URL, Auth{}, []byte(`{"num_steps":5}`)); err != nil {
		t.Errorf("StartProfile: %v", err)
	}
	err := StopProfile(t.Context(), server.Client(), server.URL, Auth{}, nil)
	if want := "the profiler: POST " + server.URL + "/stop_profile: HTTP 400: no profile is running"; err == nil || err.Error() != want {
		t.Errorf("StopProfile = %v, want %q", err, want)
	}
	if diff := cmp.Diff([]string{`POST /start_profile {"num_steps":5}`, "POST /stop_profile "}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
