package telemetry

import (
	"fmt"
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// When something is worth a sentence.
const (
	kvFull      = 0.95 // of the KV pool
	fullShare   = 0.1  // of the samples
	queueHeavy  = 0.5  // of the server's TTFT
	warmShare   = 0.05 // of the prompt tokens
	gapShare    = 0.2  // of the TTFT
	gapLeast    = 5 * time.Millisecond
	foreignMore = 0.05 // of the output tokens
	slowScrape  = time.Second
)

// Findings says in words what the server's numbers mean beside the run's, each with its evidence. It needs no telemetry for what
// the run's own records show (a late client). Same input, same findings.
func Findings(t *bench.Telemetry, s *bench.Summary) []string {
	if t == nil {
		t = &bench.Telemetry{}
	}
	f := &finder{t: t, s: s}
	f.kv()
	f.queue()
	f.cache()
	f.firstToken()
	f.speculation()
	f.others()
	f.client()
	f.energy()
	if t.Slowest > slowScrape {
		f.say("the server took %s to answer a scrape: its own loop is busy, and the gauges above are coarse", t.Slowest.Round(time.Millisecond))
	}
	if t.Failed > 0 {
		f.say("%s came to nothing", bench.Part(t.Failed, t.Failed+len(t.Samples), "scrape"))
	}
	return f.out
}

type finder struct {
	t   *bench.Telemetry
	s   *bench.Summary
	out []string
}

func (f *finder) say(format string, args ...any) { f.out = append(f.out, fmt.Sprintf(format, args...)) }

// grown is how much a counter grew during the run; a counter that fell belongs to a server that was started anew.
func grown(before, after bench.Measure) (float64, bool) {
	a, ok := before.Get()
	b, too := after.Get()
	return b - a, ok && too && b >= a
}

// meanOf is the mean of a histogram over the run.
func meanOf(before, after bench.Total) (mean float64, n float64, ok bool) {
	sum, ok1 := grown(before.Sum, after.Sum)
	n, ok2 := grown(before.Count, after.Count)
	if !ok1 || !ok2 || n == 0 {
		return 0, 0, false
	}
	return sum / n, n, true
}

// peak is the largest value of a gauge and in how many samples it was at least limit.
func (f *finder) peak(of func(*bench.Gauges) bench.Measure, limit float64) (most float64, above, n int) {
	for i := range f.t.Samples {
		if x, ok := of(&f.t.Samples[i]).Get(); ok {
			n++
			most = math.Max(most, x)
			if x >= limit {
				above++
			}
		}
	}
	return most, above, n
}

// kv: a full KV pool holds requests back, and preempts.
func (f *finder) kv() {
	most, full, n := f.peak(func(g *bench.Gauges) bench.Measure { return g.KVUse }, kvFull)
	preempted, counted := grown(f.t.Before.Preemptions, f.t.After.Preemptions)
	waiting, _, _ := f.peak(func(g *bench.Gauges) bench.Measure { return g.Waiting }, 1)
	isFull := n > 0 && float64(full) >= fullShare*float64(n) && full > 0
	switch {
	case counted && preempted > 0:
		why := fmt.Sprintf("KV use was at most %.0f %%", 100*most)
		if isFull || most >= kvFull {
			why = fmt.Sprintf("the KV pool was full (%.0f %% at most, %s at %.0f %% or more)", 100*most, bench.Part(full, n, "sample"), 100*kvFull)
		}
		if n == 0 {
			why = "the server states no KV use"
		}
		f.say("preemptions: %s lost %s KV and had to be computed again; %s, up to %s waited: less load, shorter answers or more KV memory help", bench.Number(int(preempted), "request"), bench.Agree(int(preempted), "its", "their"), why, bench.Number(int(waiting), "request"))
	case isFull:
		f.say("the KV pool was full: %.0f %% at most, %s at %.0f %% or more, up to %s waited; more load only queues", 100*most, bench.Part(full, n, "sample"), 100*kvFull, bench.Number(int(waiting), "request"))
	}
}

// queue: of what the time to the first token consists, by the server's own clocks.
func (f *finder) queue() {
	ttft, n, ok := meanOf(f.t.Before.TTFT, f.t.After.TTFT)
	queue, _, known := meanOf(f.t.Before.Queue, f.t.After.Queue)
	if !ok || !known || ttft <= 0 {
		return
	}
	share := queue / ttft
	if share > 1 { // a server counts the wait of requests that never came to a first token, as in a run that was cut off
		return
	}
	if share >= queueHeavy {
		f.say("first tokens wait: %.0f %% of the server's mean TTFT of %s is its queue (%s, %.0f requests)", 100*share, milli(ttft), milli(queue), n)
		return
	}
	itl := f.s.TPOT.Mean
	if f.s.TPOT.Measured() && ttft > 5*itl && share < 0.2 {
		cold := ""
		if c, stated := f.cachedShare(); stated && c < warmShare {
			cold = fmt.Sprintf("; prompts were cold, %.1f %% of their tokens cached", 100*c)
		}
		f.say("first tokens are prefill: of the server's mean TTFT of %s only %s is its queue%s", milli(ttft), milli(queue), cold)
	}
}

// cachedShare is the share of prompt tokens that came from the prefix cache, by the server's counters.
func (f *finder) cachedShare() (float64, bool) {
	cached, ok := grown(f.t.Before.CachedTokens, f.t.After.CachedTokens)
	prompt, known := grown(f.t.Before.PromptTokens, f.t.After.PromptTokens)
	if !ok || !known || prompt <= 0 {
		return 0, false
	}
	return cached / prompt, true
}

// cache: a warm prefix cache makes TTFT better than that of new prompts.
func (f *finder) cache() {
	share, ok := f.cachedShare()
	from := "the server's counters"
	if n, stated := f.s.CachedTokens.Get(); !ok && stated && f.s.InputTokens.Or(0) > 0 {
		share, ok, from = float64(n)/float64(f.s.InputTokens.Or(0)), true, "its answers"
	}
	if ok && share >= warmShare {
		f.say("the prefix cache was warm: %.1f %% of the prompt tokens came from it (%s)", 100*share, from)
	}
}

// firstToken: the same mean by both sides' clocks.
func (f *finder) firstToken() {
	theirs, n, ok := meanOf(f.t.Before.TTFT, f.t.After.TTFT)
	if !ok || !f.s.TTFT.Measured() {
		return
	}
	ours := f.s.TTFT.Mean
	if math.Abs(n-float64(f.s.TTFT.N)) > 0.02*float64(f.s.TTFT.N)+1 {
		return // other requests are in their mean
	}
	if gap := ours - theirs; gap > math.Max(gapLeast.Seconds(), gapShare*theirs) {
		f.say("between server and client lies time: mean TTFT is %s by the server's clock and %s by ours; network, proxy, TLS or this client takes %s", milli(theirs), milli(ours), milli(gap))
	}
}

// speculation: tokens per verification.
func (f *finder) speculation() {
	drafts, ok := grown(f.t.Before.Drafts, f.t.After.Drafts)
	accepted, known := grown(f.t.Before.Accepted, f.t.After.Accepted)
	if ok && known && drafts > 0 {
		f.say("speculative decoding yields %.2f tokens per verification (%.0f verifications)", 1+accepted/drafts, drafts)
		return
	}
	if len(f.t.Samples) > 0 {
		if x, stated := f.t.Samples[len(f.t.Samples)-1].AcceptLength.Get(); stated && x > 1 {
			f.say("speculative decoding yields %.2f tokens per verification (the server's gauge)", x)
		}
	}
}

// others: tokens that this run did not ask for.
func (f *finder) others() {
	made, ok := grown(f.t.Before.OutputTokens, f.t.After.OutputTokens)
	got, known := f.s.OutputTokens.Get()
	if ok && known && f.s.Failed == 0 && f.s.Cancelled == 0 && made > float64(got)*(1+foreignMore)+10 {
		f.say("others use the server: it made %.0f tokens during the run, of which this run received %d", made, got)
	}
}

// client: requests that left late.
func (f *finder) client() {
	q, ok := f.s.Lateness.Quantile(99)
	if !ok {
		return
	}
	if low, known := q.Low.Get(); known && low > 0.002 && f.s.TTFT.Measured() && low > 0.05*f.s.TTFT.Mean {
		f.say("this client was late: at p99 requests left %s after they could have gone, %.0f %% of the mean TTFT", milli(q.Value), 100*q.Value/f.s.TTFT.Mean)
	}
}

// energy: power and what a token costs.
func (f *finder) energy() {
	var sum float64
	n := 0
	for i := range f.t.Samples {
		if x, ok := f.t.Samples[i].Power.Get(); ok {
			sum += x
			n++
		}
	}
	if n == 0 {
		return
	}
	power := sum / float64(n)
	tokens, known := f.s.OutputTokens.Get()
	seconds := f.s.Duration.Seconds()
	joules, how := power*seconds, "mean of "+bench.Number(n, "sample")
	if e, ok := grown(f.t.Before.Energy, f.t.After.Energy); ok && e > 0 {
		joules, how = e, "the energy counter"
	}
	if !known || tokens == 0 || joules <= 0 {
		f.say("the GPUs took %.0f W (mean of %s)", power, bench.Number(n, "sample"))
		return
	}
	f.say("the GPUs took %.0f W: %.3g output tokens per joule, %.3g J per token (%s)", power, float64(tokens)/joules, joules/float64(tokens), how)
}

func milli(seconds float64) string { return fmt.Sprintf("%.4g ms", 1000*seconds) }
