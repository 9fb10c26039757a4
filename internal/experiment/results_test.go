package experiment

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

func TestReadResults(t *testing.T) {
	in := `{"dataset_name":"Random","request_rate":Infinity,"max_concurrency":null,"completed":10,"output_throughput":5.5,"total_throughput":7,
		"mean_ttft_ms":12,"median_ttft_ms":10,"p99_ttft_ms":30,"mean_tpot_ms":NaN,"tag":"a \"quoted\" Infinity"}
		[{"output_throughput":1,"total_token_throughput":2,"completed":4,"failed":1,"num_prompts":5,"mean_e2el_ms":100,"p90_e2el_ms":200}]`
	list, err := ReadResults(strings.NewReader(in))
	if err != nil || len(list) != 2 {
		t.Fatalf("ReadResults = %d results, %v, want 2", len(list), err)
	}
	a, b := &list[0], &list[1]
	if diff := cmp.Diff(map[string]string{"data set": "random", "request rate": "inf", "max concurrency": "none", "requests": "10"}, a.Workload); diff != "" {
		t.Errorf("workload (-want +got):\n%s", diff)
	}
	q, _ := a.Summary.TTFT.Quantile(99)
	if a.Tool != "sglang" || b.Tool != "vllm" || q.Value != 0.03 || a.Summary.TPOT.Measured() || b.Summary.E2E.Mean != 0.1 || b.Workload["requests"] != "5" {
		t.Errorf("read %s (p99 ttft %v, tpot measured %v) and %s (mean e2e %v), want sglang, 0.03, false, vllm, 0.1", a.Tool, q.Value, a.Summary.TPOT.Measured(), b.Tool, b.Summary.E2E.Mean)
	}
	for _, bad := range []string{"", "{}", "[]", "x", `{"servemark_journal":1}`, `[1]`, `{"output_throughput":1} {`} {
		if _, err := ReadResults(strings.NewReader(bad)); err == nil {
			t.Errorf("ReadResults(%q) = no error, want one", bad)
		}
	}
}

// FuzzLegalJSON: what is JSON stays what it is, to the byte.
func FuzzLegalJSON(f *testing.F) {
	for _, s := range []string{`{"a":"NaN \" Infinity","b":[1,null]}`, `"`, `"\`, `{"a":Infinity}`, `NaN`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := legalJSON([]byte(in))
		if json.Valid([]byte(in)) && string(got) != in {
			t.Errorf("legalJSON(%q) = %q, want it unchanged", in, got)
		}
	})
}

func TestMismatch(t *testing.T) {
	p := func(change func(*bench.Plan)) *Result {
		plan := &bench.Plan{Spec: bench.Spec{Load: bench.LoadSpec{Concurrency: 8}, Dataset: bench.DatasetSpec{Name: "random", InputTokens: 256, Rows: 10}, Seed: 1},
			Requests: []bench.Request{{}}}
		change(plan)
		plan.Seal()
		r := &Result{Fingerprint: plan.Fingerprint, Seed: bench.Measured(float64(plan.Spec.Seed))}
		r.Workload, r.Spec = WorkloadOf(plan)
		return r
	}
	base := p(func(*bench.Plan) {})
	for _, row := range []struct {
		name   string
		change func(*bench.Plan)
		want   string // part of the only difference; "" for none
	}{
		{"itself", func(*bench.Plan) {}, ""},
		{"another seed", func(p *bench.Plan) { p.Spec.Seed = 2; p.Requests[0].OutputTokens = 3 }, ""},
		{"same seed, other requests", func(p *bench.Plan) { p.Requests[0].OutputTokens = 3 }, "requests themselves"},
		{"concurrency", func(p *bench.Plan) { p.Spec.Load.Concurrency = 9 }, "load.concurrency: 8 and 9"},
		{"a setting only one has", func(p *bench.Plan) { p.Spec.Load.Rate = 2 }, "load.rate: not set and 2"},
		{"patience", func(p *bench.Plan) { p.Spec.Load.IdleTimeout = 5; p.Spec.Seed = 2 }, ""},
	} {
		differ, _ := Mismatch(base, p(row.change))
		if (len(differ) == 0) != (row.want == "") || row.want != "" && (len(differ) != 1 || !strings.Contains(differ[0], row.want)) {
			t.Errorf("%s: Mismatch = %q, want %q", row.name, differ, row.want)
		}
	}
}
