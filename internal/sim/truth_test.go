package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
)

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("GET %s = %d, %v: %s", url, resp.StatusCode, err, b)
	}
	return string(b)
}

// busy is a batching deployment with every feature on, small enough to preempt.
func busy(flavour Flavour, s engine.Schedule) Config {
	return Config{Flavour: flavour, MaxModelLen: 400, Seed: 3, Engine: &engine.Params{
		Schedule: s, Step: engine.StepModel{Base: 1, PerSeq: 0.05, PerToken: 0.002, Overlap: 0.5, Noise: 0.05}, Host: engine.Host{Ingest: 0.3, Out: 0.05, PerToken: 0.005},
		MaxSeqs: 8, KVTokens: 240, Conservativeness: 0.1, PageSize: 4, PrefixCache: true, SpecDepth: 2, SpecAccept: 0.6, TokenBudget: 128,
	}}
}

// loadUp sends 40 requests of different shapes, ten at a time, one of them given up by its client.
func loadUp(t *testing.T, s *Server, url string) {
	t.Helper()
	var wg sync.WaitGroup
	gate := make(chan struct{}, 10)
	for i := range 40 {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			prompt := strings.Repeat("the river in the city ", 5+i%4) + strconv.Itoa(i%7)
			body := `{"model":"sim","prompt":"` + prompt + `","max_tokens":` + strconv.Itoa(20+i) + `,"ignore_eos":true,"stream":` + strconv.FormatBool(i%3 > 0) + `}`
			if i == 13 {
				c := http.Client{Timeout: 15 * time.Millisecond}
				if resp, err := c.Post(url+"/v1/completions", "application/json", strings.NewReader(body)); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				return
			}
			if code, got := post(t, url+"/v1/completions", body); code != 200 {
				t.Errorf("request %d: %d %s", i, code, got)
			}
		})
	}
	wg.Wait()
	s.driver.wait()
	for len(s.Truths()) < 40 { // the handler of the given-up request may still be closing its books
		time.Sleep(time.Millisecond)
	}
}

// TestRealClockKeepsTheVirtualSchedule replays what a loaded server did, with the stamps it gave the arrivals, in virtual time.
func TestRealClockKeepsTheVirtualSchedule(t *testing.T) {
	for f, schedule := range map[Flavour]engine.Schedule{VLLM: engine.VLLM, SGLang: engine.SGLang, LlamaCpp: engine.Slots} {
		c := busy(f, schedule)
		if schedule == engine.Slots {
			c.Engine.KVTokens = 400 * 8
		}
		s, url := start(t, c)
		type arrival struct {
			req           engine.Request
			accepted, now time.Duration
		}
		var log []arrival
		s.driver.onSubmit = func(a *answer) { log = append(log, arrival{a.request(), a.reply.accepted, a.submitted}) }
		var steps []engine.Step
		s.driver.note(func(e *engine.Engine) {
			e.OnStep(func(st engine.Step) { steps = append(steps, st); s.truth.step(st) })
		})
		loadUpWhole(t, s, url)
		e, err := engine.New(s.params)
		if err != nil {
			t.Fatal(err)
		}
		var again []engine.Step
		e.OnStep(func(st engine.Step) { again = append(again, st) })
		for _, a := range log {
			e.Advance(a.now-1, func(engine.Emission) {})
			if _, err := e.Submit(a.req, a.accepted, a.now); err != nil {
				t.Fatal(err)
			}
		}
		e.Advance(time.Hour, func(engine.Emission) {})
		if len(again) != len(steps) || len(steps) < 50 {
			t.Fatalf("%s: %d steps on the real clock, %d in virtual time", f, len(steps), len(again))
		}
		for i := range steps {
			if steps[i] != again[i] {
				t.Fatalf("%s: step %d was %+v, in virtual time %+v", f, i, steps[i], again[i])
			}
		}
	}
}

// loadUpWhole sends 30 requests in three waves and lets each finish.
func loadUpWhole(t *testing.T, s *Server, url string) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 30 {
		if i%10 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		wg.Go(func() {
			post(t, url+"/v1/completions", `{"model":"sim","prompt":"`+strings.Repeat("the river ", 8+i%5)+`","max_tokens":`+strconv.Itoa(10+i)+`,"ignore_eos":true,"stream":true}`)
		})
	}
	wg.Wait()
	s.driver.wait()
}

func TestMetricsEqualTruth(t *testing.T) {
	for f, schedule := range map[Flavour]engine.Schedule{VLLM: engine.VLLM, SGLang: engine.SGLang} {
		s, url := start(t, busy(f, schedule))
		loadUp(t, s, url)
		var prompt, cached, output, preempted, requests, aborted, firsts, gaps int
		var ttft, itl, e2e, queue time.Duration
		for _, x := range s.Truths() {
			requests++
			output += x.Output
			preempted += x.Preemptions
			if x.Scheduled >= 0 {
				prompt, cached, queue = prompt+x.Prompt, cached+x.Cached, queue+x.Scheduled-x.Queued
			}
			if x.Finish == "aborted" {
				aborted++
			}
			if n := len(x.Planned); n > 0 {
				firsts++
				gaps += n - 1
				ttft += x.Planned[0] - x.Accepted
				itl += x.Planned[n-1] - x.Planned[0]
				if x.Finish != "aborted" {
					e2e += x.Planned[n-1] - x.Accepted
				}
			}
		}
		text := get(t, url+"/metrics")
		want := map[string]string{
			"prompt_tokens_total": strconv.Itoa(prompt), "generation_tokens_total": strconv.Itoa(output),
			"time_to_first_token_seconds_sum": seconds(ttft), "time_to_first_token_seconds_count": strconv.Itoa(firsts),
			"inter_token_latency_seconds_sum": seconds(itl), "e2e_request_latency_seconds_sum": seconds(e2e),
		}
		if f == SGLang {
			want["cached_tokens_total"], want["num_retracted_requests_total"], want["num_aborted_requests_total"] = strconv.Itoa(cached), strconv.Itoa(preempted), strconv.Itoa(aborted)
			want["num_requests_total"], want["queue_time_seconds_sum"], want["inter_token_latency_seconds_count"] = strconv.Itoa(requests), seconds(queue), strconv.Itoa(gaps)
			want["num_running_reqs"], want["num_queue_reqs"], want["num_used_tokens"] = "0", "0", "0"
		} else {
			want["prefix_cache_hits_total"], want["num_preemptions_total"], want["request_queue_time_seconds_sum"] = strconv.Itoa(cached), strconv.Itoa(preempted), seconds(queue)
		}
		for name, value := range want {
			if got := metric(text, string(f)+":"+name); got != value {
				t.Errorf("%s: /metrics says %s = %q, the truth is %s", f, name, got, value)
			}
		}
		if cached == 0 || preempted == 0 {
			t.Errorf("%s: %d cached tokens, %d preemptions; the load was meant to have both", f, cached, preempted)
		}
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 9, 64) }

// metric is the value of the first sample of a name.
func metric(text, name string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, name+"{"); ok {
			return rest[strings.LastIndexByte(rest, ' ')+1:]
		}
	}
	return "absent"
}

func TestTruthIsServed(t *testing.T) {
	s, url := start(t, busy(SGLang, engine.SGLang))
	loadUp(t, s, url)
	var got struct {
		Health   Health
		Requests []Truth
	}
	if err := json.Unmarshal([]byte(get(t, url+"/sim/truth")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Requests) != 40 || got.Health.Flush.N == 0 {
		t.Fatalf("%d requests, %d flushes; want 40 and some", len(got.Requests), got.Health.Flush.N)
	}
	for _, x := range got.Requests {
		if x.Finish == "aborted" {
			continue
		}
		if len(x.Planned) != x.Output || len(x.Flushed) != x.Sent || x.Sent != x.Output {
			t.Errorf("%s: %d planned, %d flushed of %d tokens", x.RID, len(x.Planned), len(x.Flushed), x.Output)
		}
		for i, at := range x.Flushed {
			if at < x.Planned[i] || i > 0 && x.Planned[i] < x.Planned[i-1] {
				t.Errorf("%s: token %d planned at %v after %v, flushed at %v", x.RID, i, x.Planned[i], x.Planned[max(i-1, 0)], at)
			}
		}
		if !(x.Accepted <= x.Submitted && x.Submitted <= x.Queued && x.Queued <= x.Scheduled && x.Scheduled < x.Finished && x.Finished <= x.Planned[len(x.Planned)-1]) {
			t.Errorf("%s: out of order: %+v", x.RID, x)
		}
	}
	one := got.Requests[7].RID
	if body := get(t, url+"/sim/truth?tokens=0&rid="+one); strings.Count(body, `"rid"`) != 1 || !strings.Contains(body, one) || !strings.Contains(body, `"planned_ns":null`) {
		t.Errorf("/sim/truth?rid=%s = %s", one, body)
	}
	var steps struct{ Steps []engine.Step }
	if err := json.Unmarshal([]byte(get(t, url+"/sim/steps?last=5")), &steps); err != nil || len(steps.Steps) != 5 {
		t.Errorf("/sim/steps?last=5 has %d steps, %v", len(steps.Steps), err)
	}
	post(t, url+"/sim/reset", "")
	if n := len(s.Truths()); n != 0 {
		t.Errorf("%d requests left after the reset", n)
	}
}

func TestTruthIsARing(t *testing.T) {
	s, url := start(t, Config{TruthRequests: 3})
	for i := range 5 {
		post(t, url+"/v1/completions", `{"model":"sim","prompt":[`+strconv.Itoa(60+i)+`],"max_tokens":`+strconv.Itoa(i+1)+`,"ignore_eos":true}`)
	}
	list := s.Truths()
	if len(list) != 3 || list[0].Output != 3 || list[2].Output != 5 {
		t.Errorf("kept %d requests, first of %d tokens, last of %d; want 3, 3, 5", len(list), list[0].Output, list[len(list)-1].Output)
	}
}

func TestHealthSaysOverloaded(t *testing.T) {
	for _, tt := range []struct {
		late, step time.Duration
		want       bool
	}{
		{300 * time.Microsecond, 10 * time.Millisecond, false}, {1100 * time.Microsecond, 10 * time.Millisecond, true},
		{1900 * time.Microsecond, time.Second, false}, {2500 * time.Microsecond, time.Second, true}, {1900 * time.Microsecond, 0, false},
	} {
		s := testServer(t, Config{})
		for range 98 {
			s.truth.late.Add(0)
		}
		s.truth.late.Add(tt.late)
		s.truth.late.Add(tt.late)
		if tt.step > 0 {
			s.truth.step(engine.Step{End: tt.step})
		}
		if h := s.Health(); h.Overloaded != tt.want || h.Overloaded != strings.Contains(h.Why, "overloaded") {
			t.Errorf("2 %% of tokens %v late with steps of %v: %+v, want overloaded %v", tt.late, tt.step, h, tt.want)
		}
	}
}

func TestLoadsGiveTheStepLine(t *testing.T) {
	s, url := start(t, Config{Engine: &engine.Params{Schedule: engine.SGLang, Step: engine.StepModel{Base: 2, PerSeq: 0.5, PerToken: 0.001, Overlap: 1}}})
	loadUpWhole(t, s, url)
	var got struct {
		Loads []struct {
			Moments []float64 `json:"decode_moments"`
			Tokens  int       `json:"total_prefill_uncached_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(get(t, url+"/v1/loads")), &got); err != nil {
		t.Fatal(err)
	}
	m := got.Loads[0].Moments
	n, b, tt, b2, bt := m[0], m[1], m[2], m[3], m[4]
	slope := (n*bt - b*tt) / (n*b2 - b*b)
	base := (tt - slope*b) / n
	if slope < 500 || slope > 502 || base < 1999 || base > 2001 {
		t.Errorf("decode_moments give %v µs + %v µs a request, want 2000 and 501", base, slope)
	}
}
