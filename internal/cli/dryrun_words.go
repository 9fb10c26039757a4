package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/doctor"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/report"
)

// What a dry run says of the run beside its requests: where they would go, when, how long they are, what else would be
// asked, and what would be written.

// sayWhere says where requests would go.
func (s *session) sayWhere() {
	t := &s.spec.Target
	path := t.Path
	if path == "" {
		path = endpoint.Path(t.API)
	}
	where := t.BaseURL + path
	for _, base := range t.Replicas {
		where += ", in turn with " + base + path
	}
	how := "answers in one piece"
	if t.Stream {
		how = "answers as streams"
	}
	s.say("dry run: nothing is sent or written; a run would do this:")
	s.say("  where: POST %s, %s", safe(where), how)
	if endpoint.NeedsName(t.API) {
		s.say("  model: %s", safe(s.modelWords()))
	}
}

// modelWords says which name would be asked for.
func (s *session) modelWords() string {
	m := &s.spec.Model
	switch {
	case m.Served != "":
		return string(m.Served)
	case m.Asked != "":
		if doctor.IsRepo(m.Asked) || doctor.IsPath(m.Asked) {
			return m.Asked + ", or what the server calls the one model that it serves"
		}
		return m.Asked
	}
	return "what the server serves, which it is asked first"
}

// sayLoad says what would be sent and when; sent are the requests that can be.
func (s *session) sayLoad(sent []*bench.Request) {
	s.say("  requests: %d; %s; %s", len(sent), promptWords(s.spec, sent), answerWords(s.spec, sent))
	s.say("  when: %s", arrivalWords(&s.plan.Spec.Load, sent))
	turns := 0
	for _, r := range sent {
		if r.After != nil {
			turns++
		}
	}
	if turns > 0 {
		s.say("  turns: %s %s on the answer to the one named under \"after\", %s, with all that was said until then", bench.Number(turns, "request"),
			bench.Agree(turns, "follows", "follow"), report.ThinkWords(&s.spec.Dataset))
	}
	if left := len(s.plan.Requests) - len(sent); left > 0 {
		s.say("  left out: %s made for the case that more are wanted, and due after the end", bench.Number(left, "request"))
	}
}

// sayBeside says what would go on before and during the load, and what would be judged.
func (s *session) sayBeside() {
	var before []string
	switch {
	case s.spec.Warmup == 0:
		before = append(before, "no request is sent ahead")
	default:
		text := bench.Agree(s.spec.Warmup, "a text of its own", "texts of their own")
		if s.spec.Strict {
			text = "the first prompt"
		}
		before = append(before, fmt.Sprintf("%s with %s, not measured; %s tells whether the server works", bench.Number(s.spec.Warmup, "warm-up request"), text,
			bench.Agree(s.spec.Warmup, "it", "the first")))
	}
	if s.before != nil {
		before = append(before, bench.Number(aloneRequests, "request")+" one after another for the goal single_stream")
	}
	if s.job.flush {
		before = append(before, "the server's prefix cache is emptied")
	}
	s.say("  before: the server is asked what it serves; %s", strings.Join(before, "; "))
	var during []string
	if l := s.job.listening; l.on && !l.serverOff {
		during = append(during, "the server's own figures are read once a second (--metrics off: not)")
	}
	if s.job.listening.gpus != "" {
		during = append(during, "the GPUs' figures are read once a second")
	}
	if s.job.profile != nil {
		during = append(during, "the server's profiler runs")
	}
	if v := s.spec.VLLM; v != nil && v.ProbeRate > 0 {
		during = append(during, fmt.Sprintf("%s one-token requests a second go out beside the load", number(v.ProbeRate)))
	}
	if len(during) > 0 {
		s.say("  during: %s", strings.Join(during, "; "))
	}
	var goals []string
	for _, g := range s.spec.Goals {
		goals = append(goals, g.Name)
	}
	if len(goals) > 0 {
		s.say("  goals: %s; the exit code is %d where one is missed", safe(strings.Join(goals, ", ")), exitGoal)
	}
}

// sayFiles says what would be written; output is the file of the result line that was asked for.
func (s *session) sayFiles(output string) {
	var files []string
	switch o := s.job.vllm; {
	case s.spec.Dialect == bench.DialectSGLang && output == "":
		output = report.DefaultFileName(s.spec, time.Now())
	case o != nil && (o.save || o.append):
		output = o.path(s.spec)
	}
	if output != "" {
		files = append(files, "the result to "+output)
	}
	if s.job.journal != "-" {
		path := s.job.journal
		if path == "" {
			path = s.journalName(time.Now())
		}
		what := "the journal"
		if s.spec.KeepText {
			what = "the journal, prompts and answers in it,"
		}
		files = append(files, what+" to "+path)
	}
	if len(files) == 0 {
		files = []string{"nothing"}
	}
	s.say("  written: %s", safe(strings.Join(files, "; ")))
}

// promptWords says how long prompts are.
func promptWords(spec *bench.Spec, sent []*bench.Request) string {
	low, high, total, known := 0, 0, 0, len(sent) > 0
	for i, r := range sent {
		n, ok := r.InputTokens.Get()
		known = known && ok
		if i == 0 {
			low, high = n, n
		}
		low, high, total = min(low, n), max(high, n), total+n
	}
	switch d := &spec.Dataset; {
	case known:
		return fmt.Sprintf("prompts of %s (%d in all)", span(low, high, "token"), total)
	case strings.HasPrefix(d.Name, "random") && d.RangeRatio == 1 && spec.Dialect != bench.DialectVLLM:
		return fmt.Sprintf("prompts of about %s", bench.Number(d.InputTokens, "token"))
	}
	return "prompts of unknown length (prompt_len is null where nothing here can count)"
}

// answerWords says how long answers are to be.
func answerWords(spec *bench.Spec, sent []*bench.Request) string {
	if spec.Target.API.Pooling() {
		return "no text is generated"
	}
	low, high := 0, 0
	for i, r := range sent {
		if i == 0 {
			low, high = r.OutputTokens, r.OutputTokens
		}
		low, high = min(low, r.OutputTokens), max(high, r.OutputTokens)
	}
	if spec.Body.IgnoreEOS {
		return "answers of " + span(low, high, "token") + " (ignore_eos is asked for, so that none ends sooner)"
	}
	return "answers of at most " + span(low, high, "token")
}

// span writes a range: "8 tokens", "8 to 64 tokens".
func span(low, high int, noun string) string {
	if low == high {
		return bench.Number(low, noun)
	}
	return strconv.Itoa(low) + " to " + bench.Number(high, noun)
}

// number writes a float with no more digits than it has.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// arrivalWords says when requests are sent.
func arrivalWords(l *bench.LoadSpec, sent []*bench.Request) string {
	words := spreadWords(l)
	if l.Scheduled() && l.Concurrency > 0 {
		words += fmt.Sprintf(", no more than %d at a time", l.Concurrency)
	}
	var last bench.Instant
	for _, r := range sent {
		last = max(last, r.Due)
	}
	if l.Scheduled() && last > 0 {
		words += fmt.Sprintf("; the last is due after %s", time.Duration(last).Round(time.Millisecond))
	}
	if l.Duration > 0 {
		words += fmt.Sprintf("; none is begun after %s", l.Duration)
		if !l.Scheduled() {
			words += ", so how many are sent depends on the server"
		}
	}
	return words
}

func spreadWords(l *bench.LoadSpec) string {
	random := "at random times (a Poisson process)"
	switch {
	case l.Arrival == bench.ArrivalConstant:
		random = "at equal distances"
	case l.Arrival == bench.ArrivalGamma && l.Burstiness < 1:
		random = "at random times, more in bursts than a Poisson process (gamma, shape " + number(l.Burstiness) + ")"
	case l.Arrival == bench.ArrivalGamma && l.Burstiness > 1:
		random = "at random times, more evenly than a Poisson process (gamma, shape " + number(l.Burstiness) + ")"
	}
	switch {
	case l.Trace:
		return "at the times of the data set"
	case l.RampUp != nil:
		shape := "evenly"
		if l.RampUp.Exponential {
			shape = "by equal factors"
		}
		return fmt.Sprintf("%s, %s a second at the start and %s at the end, changing %s", random, number(l.RampUp.Start), number(l.RampUp.End), shape)
	case len(l.Stages) > 0:
		var stages []string
		for _, st := range l.Stages {
			stages = append(stages, fmt.Sprintf("%s a second for %s", number(st.Rate), st.For))
		}
		return random + ", " + strings.Join(stages, ", then ")
	case l.Rate > 0:
		return fmt.Sprintf("%s, %s a second on average", random, number(l.Rate))
	case l.Concurrency == 1:
		return "one at a time, the next as soon as one has ended"
	case l.Concurrency > 0:
		return fmt.Sprintf("%d at a time, the next as soon as one has ended", l.Concurrency)
	}
	return "all at once"
}
