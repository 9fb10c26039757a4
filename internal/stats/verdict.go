package stats

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Limits of the verdict. A rule that counts single requests needs evidence that does not rest on one of them, so that a small
// sample never changes a verdict by being small.
const (
	// Client late: the lower end of the 95 % interval of lateness p99, against the larger of a floor and a share of the median
	// latency that lateness disturbs. An idle Go timer is up to 1 ms late; the floor is twice that.
	lateSuspect, lateSuspectShare = 2 * time.Millisecond, 0.05
	lateInvalid, lateInvalidShare = 10 * time.Millisecond, 0.25
	// Schedule missed: how much longer the requests took to leave than the drawn schedule wanted, as a share of it; slips below
	// slipFloor are a client late, not a schedule missed.
	slipSuspect, slipInvalid = 0.01, 0.05
	slipFloor                = 10 * time.Millisecond
	// Warm prefix cache: a request is warm above both warmTokens and warmShare of its prompt; a chat template's fixed start and
	// the odd cache block are below. The run is suspect where warm requests hold warmSuspect of the prompt tokens.
	warmTokens, warmShare, warmSuspect = 16, 0.1, 0.05
	// Token counts disagree: the total difference per request beyond an allowance, as a share of the total. Answers are counted
	// from text that no longer has its special tokens, so their limit is wide.
	inputAllowance, inputSuspect   = 8, 0.02
	outputAllowance, outputSuspect = 2, 0.20
	// Failures: above Spec.MaxErrorRate suspect, above failInvalid of the requests invalid.
	failInvalid = 0.5
	// clockError is how far two stamps of one request may be out of order.
	clockError = time.Millisecond
)

// verdict judges the run by rules over its records. Each rule gives a level and its cause in words, or nothing.
func (r *run) verdict(s *bench.Summary) bench.Verdict {
	v := bench.Verdict{Level: bench.Valid}
	rules := []func(*bench.Summary) (bench.VerdictLevel, string){
		r.nothingMeasured, r.clockWrong, r.clockStepped, r.readLate, r.slotsEmpty, r.clientLate, r.scheduleMissed,
		r.tooManyFailures, r.errorsInStreams, r.malformed, r.warmCache, r.tokenizerDiffers, r.inputDisagrees, r.outputDisagrees, r.limitIgnored, r.ranOut,
	}
	for _, rule := range rules {
		level, cause := rule(s)
		if cause == "" {
			continue
		}
		v.Causes = append(v.Causes, cause)
		if level == bench.Invalid || v.Level == bench.Valid {
			v.Level = level
		}
	}
	return v
}

// nothingMeasured: a run without a success has no figure.
func (r *run) nothingMeasured(s *bench.Summary) (bench.VerdictLevel, string) {
	if s.Completed > 0 {
		return "", ""
	}
	if s.Sent == 0 {
		return bench.Invalid, "nothing measured: no request was sent"
	}
	return bench.Invalid, fmt.Sprintf("nothing measured: none of %s succeeded", bench.Number(s.Sent, "request"))
}

// clockWrong: instants of one request out of order by more than the clock's error.
func (r *run) clockWrong(*bench.Summary) (bench.VerdictLevel, string) {
	wrong := 0
	for _, rec := range r.records {
		if outOfOrder(rec) {
			wrong++
		}
	}
	if wrong == 0 {
		return "", ""
	}
	return bench.Invalid, fmt.Sprintf("clock: %s with instants out of order by more than %v (due, admitted, sent, "+
		"chunks, done); the machine's clock was stepped or the journal was changed", bench.Number(wrong, "record"), clockError)
}

func outOfOrder(rec *bench.Record) bool {
	last := bench.Never
	step := func(at bench.Instant) bool {
		if !at.Known() {
			return false
		}
		bad := last.Known() && at < last && last-at > bench.At(clockError)
		last = max(last, at)
		return bad
	}
	bad := step(rec.Due) || step(rec.Admitted) || step(rec.Sent)
	for i := range rec.Chunks {
		bad = bad || step(rec.Chunks[i].At)
	}
	return bad || step(rec.Done)
}

// clientLate: requests left this machine later than they could. With a fixed concurrency and no schedule that delays no latency, and
// slotsEmpty judges it.
func (r *run) clientLate(s *bench.Summary) (bench.VerdictLevel, string) {
	q, ok := s.Lateness.Quantile(99)
	if !ok || !r.scheduled && r.plan.Spec.Load.Concurrency > 0 {
		return "", ""
	}
	sure, ok := q.Low.Get()
	if !ok {
		return "", ""
	}
	disturbed, name := &s.E2E, "E2E"
	if r.scheduled && s.TTFT.Measured() {
		disturbed, name = &s.TTFT, "TTFT"
	}
	median := 0.0
	if m, ok := disturbed.Quantile(50); ok {
		median = m.Value
	}
	level, limit := bench.Invalid, math.Max(lateInvalid.Seconds(), lateInvalidShare*median)
	if sure <= limit {
		level, limit = bench.Suspect, math.Max(lateSuspect.Seconds(), lateSuspectShare*median)
	}
	if sure <= limit {
		return "", ""
	}
	return level, fmt.Sprintf("client late: requests left %s after they could have gone at p99 (at least %s with 95 %% confidence; "+
		"limit %s, median %s %s); %s", ms(q.Value), ms(sure), ms(limit), name, ms(median), r.remedy())
}

// scheduleMissed: the requests took longer to leave than the schedule wanted, waits for the user's own cap left out.
func (r *run) scheduleMissed(*bench.Summary) (bench.VerdictLevel, string) {
	if !r.scheduled {
		return "", ""
	}
	own := make([]start, 0, len(r.starts))
	for _, s := range r.starts {
		if !s.rec.Resent {
			own = append(own, s)
		}
	}
	asked, n := reach(own, func(s *start) bench.Instant { return s.ready })
	took, _ := reach(own, func(s *start) bench.Instant { return s.rec.Sent.Add(-s.connecting) })
	if n < 2 || asked <= 0 || took-asked <= slipFloor.Seconds() {
		return "", ""
	}
	slip := took/asked - 1
	if slip <= slipSuspect {
		return "", ""
	}
	level := bench.Suspect
	if slip > slipInvalid {
		level = bench.Invalid
	}
	return level, fmt.Sprintf("schedule missed: the schedule wanted %.4g requests per second, %.4g were sent (%.1f %% slower)",
		float64(n-1)/asked, float64(n-1)/took, 100*slip)
}

// tooManyFailures: survivors of a server that refuses load look better than it is.
func (r *run) tooManyFailures(s *bench.Summary) (bench.VerdictLevel, string) {
	if s.Failed == 0 || s.Completed == 0 {
		return "", ""
	}
	tried := s.Completed + s.Failed
	share := float64(s.Failed) / float64(tried)
	level := bench.Suspect
	switch {
	case share > failInvalid:
		level = bench.Invalid
	case share <= r.plan.Spec.MaxErrorRate:
		return "", ""
	}
	return level, fmt.Sprintf("errors: %s failed (%.1f %%); the figures are of those that got through",
		bench.Part(s.Failed, tried, "request"), 100*share)
}

// errorsInStreams: replies that began and then broke.
func (r *run) errorsInStreams(*bench.Summary) (bench.VerdictLevel, string) {
	broken := 0
	for _, rec := range r.records {
		if !rec.Cancelled && rec.Failure != nil && len(rec.Chunks) > 0 {
			broken++
		}
	}
	if broken == 0 {
		return "", ""
	}
	return bench.Suspect, fmt.Sprintf("errors in streams: %s broke off after %s first token", bench.Number(broken, "reply"), bench.Agree(broken, "its", "their"))
}

// malformed: events of good replies that could not be read may have held tokens.
func (r *run) malformed(s *bench.Summary) (bench.VerdictLevel, string) {
	if s.MalformedCount == 0 {
		return "", ""
	}
	return bench.Suspect, fmt.Sprintf("malformed events: %s of otherwise good replies could not be read; tokens in %s "+
		"have no time", bench.Number(s.MalformedCount, "event"), bench.Agree(s.MalformedCount, "it", "them"))
}

// ranOut: a run that its duration should have ended came to the end of its prompts well before.
func (r *run) ranOut(s *bench.Summary) (bench.VerdictLevel, string) {
	asked := r.plan.Spec.Load.Duration
	if asked == 0 || s.Partial || len(r.records) < len(r.plan.Requests) || len(r.records) == 0 {
		return "", ""
	}
	var last bench.Instant
	for _, rec := range r.records {
		last = max(last, rec.Admitted)
	}
	if spent := last.Sub(0); spent < asked-asked/ranOutShare {
		return bench.Suspect, fmt.Sprintf("too few prompts: all %d that were made had been sent after %s of %s; the run is that much shorter: ask for a number of requests instead of a time",
			len(r.records), spent.Round(time.Millisecond), asked)
	}
	return "", ""
}

// ranOutShare: a run may end this part of its time early before it is said.
const ranOutShare = 10

// warmCache: prompts that were drawn at random and still hit the prefix cache were sent before.
func (r *run) warmCache(*bench.Summary) (bench.VerdictLevel, string) {
	if !strings.HasPrefix(r.plan.Spec.Dataset.Name, "random") {
		return "", ""
	}
	var warm, cached, prompt int
	for i := range r.replies {
		u := &r.replies[i].rec.Usage
		n, known := inputOf(r.replies[i].rec, r.replies[i].req).Get()
		c, stated := u.Cached.Get()
		if !known || n <= 0 {
			continue
		}
		prompt += n
		c -= r.around(r.replies[i].req, n)
		if stated && c > warmTokens && float64(c) > warmShare*float64(n) {
			warm++
			cached += c
		}
	}
	if warm == 0 || float64(cached) < warmSuspect*float64(prompt) {
		return "", ""
	}
	return bench.Suspect, fmt.Sprintf("warm prefix cache: %s %s partly cached, %s (%.1f %%); "+
		"TTFT is too good: flush the cache or take another seed", bench.Part(warm, len(r.replies), "random prompt"), bench.Agree(warm, "was", "were"), bench.Part(cached, prompt, "token"), 100*float64(cached)/float64(prompt))
}

// around is how many of the n tokens a server counts stand around a chat's prompt: what a chat template adds is the same for
// every request, so its being cached says nothing of the prompt.
func (r *run) around(req *bench.Request, n int) int {
	if raw, _ := plannedInput(req); raw.Known() && r.plan.Spec.Target.API == bench.APIChat {
		return max(0, n-raw.Or(0))
	}
	return 0
}

// tokenizerDiffers: prompts were made and counted with a tokenizer that is known not to be the server's.
func (r *run) tokenizerDiffers(*bench.Summary) (bench.VerdictLevel, string) {
	diff := r.plan.Spec.Model.TokenizerDiffers
	if diff == "" {
		return "", ""
	}
	return bench.Suspect, "the tokenizer is not the server's: " + diff + "; lengths of prompts and counts by it are not the model's"
}

// inputDisagrees: the server and the tokenizer count the same prompts differently. Without the templated count a server's
// count above the raw text's says nothing in chat, where the template adds tokens.
func (r *run) inputDisagrees(*bench.Summary) (bench.VerdictLevel, string) {
	var d disagreement
	for i := range r.replies {
		rep := &r.replies[i]
		raw, templated := plannedInput(rep.req)
		ours, chat := raw, r.plan.Spec.Target.API == bench.APIChat
		if templated.Known() {
			ours, chat = templated, false
		}
		n, known := ours.Get()
		m, stated := rep.rec.Usage.Prompt.Get()
		if known && stated && !(chat && m > n) {
			d.add(m, n, inputAllowance)
		}
	}
	if !d.beyond(inputSuspect) {
		return "", ""
	}
	return bench.Suspect, fmt.Sprintf("token counts disagree: the server counted %s where the tokenizer counted %d; "+
		"is it this model's tokenizer (--tokenizer)?", bench.Number(d.theirs, "prompt token"), d.ours)
}

// outputDisagrees: the server and the tokenizer count the same answers differently. Answers with tool calls are left out:
// their text is not what the model wrote.
func (r *run) outputDisagrees(*bench.Summary) (bench.VerdictLevel, string) {
	var d disagreement
	for i := range r.replies {
		rep := &r.replies[i]
		n, counted := rep.rec.Retokenized.Get()
		m, stated := rep.rec.Usage.Completion.Get()
		if counted && stated && onlyText(rep.rec) {
			d.add(m, n, outputAllowance)
		}
	}
	if !d.beyond(outputSuspect) {
		return "", ""
	}
	return bench.Suspect, fmt.Sprintf("token counts disagree: the server counted %s where the tokenizer counted %d in the "+
		"same text; is it this model's tokenizer (--tokenizer)?", bench.Number(d.theirs, "output token"), d.ours)
}

func onlyText(rec *bench.Record) bool {
	if len(rec.Chunks) == 0 {
		return !rec.Streamed
	}
	for i := range rec.Chunks {
		if c := rec.Chunks[i].Channel; c == bench.ChannelTool || c == bench.ChannelIDs {
			return false
		}
	}
	return true
}

// limitIgnored: answers longer than asked are another load than the one planned.
func (r *run) limitIgnored(*bench.Summary) (bench.VerdictLevel, string) {
	over := 0
	for i := range r.replies {
		rep := &r.replies[i]
		if n, known := rep.rec.Usage.Completion.Get(); known && rep.req != nil && rep.req.OutputTokens > 0 && n > rep.req.OutputTokens {
			over++
		}
	}
	if over == 0 {
		return "", ""
	}
	return bench.Suspect, fmt.Sprintf("token counts disagree: %s %s more tokens than were asked; the server does not "+
		"know the limit's name, or counts otherwise", bench.Part(over, len(r.replies), "answer"), bench.Agree(over, "has", "have"))
}

// disagreement adds up two counts of the same texts and how far they are apart.
type disagreement struct {
	theirs, ours int
	apart        float64
}

func (d *disagreement) add(theirs, ours, allowance int) {
	d.theirs += theirs
	d.ours += ours
	d.apart += math.Max(0, math.Abs(float64(theirs)-float64(ours))-float64(allowance))
}

func (d *disagreement) beyond(share float64) bool {
	return d.ours > 0 && d.apart > share*float64(d.ours)
}

// ms writes seconds as milliseconds.
func ms(seconds float64) string { return fmt.Sprintf("%.4g ms", 1000*seconds) }
