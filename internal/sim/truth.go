package sim

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/lateness"
)

// Truth is what really happened to one answer; all instants are nanoseconds of the server's monotonic clock.
type Truth struct {
	RID   string `json:"rid"`
	Index int    `json:"index"`
	// Adapter is the LoRA adapter that answered, "" for the base model.
	Adapter string `json:"adapter,omitempty"`
	Prompt  int    `json:"prompt_tokens"`
	Cached  int    `json:"cached_tokens"`
	// Output is the number of tokens the engine made; Sent how many were flushed to the socket.
	Output    int    `json:"output_tokens"`
	Sent      int    `json:"sent_tokens"`
	Reasoning int    `json:"reasoning_tokens"`
	Finish    string `json:"finish"` // finish reason, "aborted" when the client left, "fault:…" when a fault cut it
	Streamed  bool   `json:"streamed"`
	Fault     string `json:"fault,omitempty"`
	// Accepted is when the handler had the request's head, Submitted when it reached the scheduler, Queued when the modelled
	// host costs were over, Scheduled its first step's start (-1: never), Finished the end of its last step.
	Accepted     time.Duration `json:"accepted_ns"`
	Submitted    time.Duration `json:"submitted_ns"`
	Queued       time.Duration `json:"queued_ns"`
	Scheduled    time.Duration `json:"scheduled_ns"`
	Finished     time.Duration `json:"finished_ns"`
	FirstStep    int           `json:"first_step"`
	LastStep     int           `json:"last_step"`
	PrefillSteps int           `json:"prefill_steps"`
	Preemptions  int           `json:"preemptions"`
	// Planned is when each token was due to leave, Flushed when its bytes had been handed to the socket.
	Planned []time.Duration `json:"planned_ns"`
	Flushed []time.Duration `json:"flushed_ns"`
}

// stepsKept bounds the ring of /sim/steps.
const stepsKept = 20000

// truthLog keeps what happened to the latest requests and the latest steps, and the sums that /metrics shows.
type truthLog struct {
	mu       sync.Mutex
	keep     int
	ring     []Truth
	next     int // place of the next truth in a full ring
	late     lateness.Log
	sums     sums
	steps    []engine.Step
	nextStep int
	stepTime time.Duration // of all steps
	stepN    int
	closing  int // replies whose last bytes are on their way
	onClose  func(*reply)
}

// last is told just before the last bytes of a reply are written, so that a client that has read them finds its truth.
func (t *truthLog) last(r *reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.closing = true
	t.closing++
}

// settled waits for replies whose last bytes are on their way, at most a tenth of a second: their clients may not read.
func (t *truthLog) settled() {
	for range 100 {
		t.mu.Lock()
		n := t.closing
		t.mu.Unlock()
		if n == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func newTruthLog(keep int, f Flavour) *truthLog { return &truthLog{keep: keep, sums: newSums(f)} }

// step is called by the engine at the end of every step.
func (t *truthLog) step(st engine.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stepN++
	t.stepTime += st.End - st.Start
	t.sums.iterations.count(float64(st.PrefillTokens + st.Decodes))
	if len(t.steps) < stepsKept {
		t.steps = append(t.steps, st)
		return
	}
	t.steps[t.nextStep] = st
	t.nextStep = (t.nextStep + 1) % stepsKept
}

// close books a reply that is over. The engine stands still meanwhile.
func (t *truthLog) close(r *reply, f *Fault, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.closing {
		t.closing--
	}
	for _, a := range r.answers {
		q := a.seq
		if q == nil {
			continue
		}
		x := Truth{RID: r.ID, Index: a.Index, Adapter: a.adapter, Prompt: a.PromptTokens(), Cached: q.Cached, Output: q.Produced, Sent: len(a.flushed), Reasoning: a.Think,
			Finish: a.Finish, Streamed: r.stream, Accepted: r.accepted, Submitted: a.submitted, Queued: q.Queued, Scheduled: q.Scheduled,
			Finished: q.Finished, FirstStep: q.FirstStep, LastStep: q.LastStep, PrefillSteps: q.PrefillSteps, Preemptions: q.Preemptions,
			Planned: a.Planned, Flushed: a.flushed}
		if f != nil {
			x.Fault = string(f.Kind)
		}
		switch {
		case errors.Is(err, errCut):
			x.Finish = "fault:" + x.Fault
		case err != nil:
			x.Finish = "aborted"
		}
		for i := range a.flushed {
			t.late.Add(a.flushed[i] - a.Planned[i])
		}
		t.sums.add(&x, err == nil)
		t.add(x)
	}
	if t.onClose != nil {
		t.onClose(r)
	}
}

func (t *truthLog) add(x Truth) {
	if len(t.ring) < t.keep {
		t.ring = append(t.ring, x)
		return
	}
	t.ring[t.next] = x
	t.next = (t.next + 1) % t.keep
}

// ordered returns the kept truths, oldest first.
func (t *truthLog) ordered() []Truth {
	return append(append([]Truth{}, t.ring[t.next:]...), t.ring[:t.next]...)
}

// genThroughput is the output tokens per second over the last second of steps.
func (t *truthLog) genThroughput() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.steps)
	if n == 0 {
		return 0
	}
	at := func(i int) engine.Step { return t.steps[(t.nextStep+n-1-i+n)%n] }
	end, tokens, from := at(0).End, 0, at(0).Start
	for i := 0; i < n && at(i).End > end-time.Second; i++ {
		tokens += at(i).Produced
		from = min(from, at(i).Start)
	}
	if end <= from {
		return 0
	}
	return float64(tokens) / (end - from).Seconds()
}

// Health is the server's judgement of itself.
type Health struct {
	// Timer is planned instant to the scheduler's wake-up, Flush planned instant to bytes handed to the socket.
	Timer lateness.Report `json:"timer"`
	Flush lateness.Report `json:"flush"`
	// MeanStep is the mean duration of a step; Overloaded is set when the p99 of Flush exceeds 2 ms or a tenth of it.
	MeanStep   time.Duration `json:"mean_step_ns"`
	Overloaded bool          `json:"overloaded"`
	Why        string        `json:"why,omitempty"`
}

// Health reports the server's own lateness since the start or the last reset.
func (s *Server) Health() Health {
	s.truth.settled()
	s.driver.mu.Lock()
	timer := s.driver.late.Report()
	s.driver.mu.Unlock()
	s.truth.mu.Lock()
	defer s.truth.mu.Unlock()
	h := Health{Timer: timer, Flush: s.truth.late.Report()}
	if s.truth.stepN > 0 {
		h.MeanStep = s.truth.stepTime / time.Duration(s.truth.stepN)
	}
	limit := 2 * time.Millisecond
	if tenth := h.MeanStep / 10; tenth > 0 && tenth < limit {
		limit = tenth
	}
	if h.Flush.P99 > limit {
		h.Overloaded = true
		h.Why = "overloaded: 1 % of the tokens left more than " + h.Flush.P99.Round(time.Microsecond).String() + " late (limit " + limit.String() +
			"); take fewer streams, longer steps or a quieter machine"
	}
	return h
}

// Truths returns what happened to the latest requests, oldest first.
func (s *Server) Truths() []Truth {
	s.truth.settled()
	s.truth.mu.Lock()
	defer s.truth.mu.Unlock()
	return s.truth.ordered()
}

// showTruth answers GET /sim/truth?rid=…&last=…&tokens=0.
func (s *Server) showTruth(w http.ResponseWriter, q *http.Request) {
	list := s.Truths()
	v := q.URL.Query()
	if rid := v.Get("rid"); rid != "" {
		var some []Truth
		for _, x := range list {
			if x.RID == rid {
				some = append(some, x)
			}
		}
		list = some
	}
	if n, err := strconv.Atoi(v.Get("last")); err == nil && n >= 0 && n < len(list) {
		list = list[len(list)-n:]
	}
	if v.Get("tokens") == "0" {
		for i := range list {
			list[i].Planned, list[i].Flushed = nil, nil
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"clock": "nanoseconds, monotonic, since the server was made", "now_ns": s.driver.now(), "health": s.Health(), "counts": s.driver.counts(), "requests": list,
	}) // a client that went away is no news here
}

// showSteps answers GET /sim/steps?last=….
func (s *Server) showSteps(w http.ResponseWriter, q *http.Request) {
	s.truth.mu.Lock()
	n := s.truth.nextStep
	list := append(append([]engine.Step{}, s.truth.steps[n:]...), s.truth.steps[:n]...)
	s.truth.mu.Unlock()
	if n, err := strconv.Atoi(q.URL.Query().Get("last")); err == nil && n >= 0 && n < len(list) {
		list = list[len(list)-n:]
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"steps": list})
}

// resetTruth forgets the kept requests, steps and lateness; the engine, its cache and /metrics go on.
func (s *Server) resetTruth(w http.ResponseWriter, _ *http.Request) {
	s.driver.mu.Lock()
	s.driver.late = lateness.Log{}
	s.driver.mu.Unlock()
	t := s.truth
	t.mu.Lock()
	t.ring, t.next, t.late, t.steps, t.nextStep, t.stepTime, t.stepN = nil, 0, lateness.Log{}, nil, 0, 0, 0
	t.mu.Unlock()
	w.WriteHeader(http.StatusOK)
}
