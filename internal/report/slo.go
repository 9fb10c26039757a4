package report

import (
	"fmt"
	"io"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/experiment"
	"github.com/servemark/servemark/internal/stats"
)

// Capacity is the largest load that meets the goals, as found.
type Capacity struct {
	Target string
	Model  string
	// Whole loads are requests in flight, else requests per second.
	Whole bool
	Found experiment.Found
	// Interrupted tells that the search was stopped from outside: what was found is a part, and Found.Stopped is not why it ended.
	Interrupted bool
	// Tolerance is how close together the ends were wanted; Spent is the wall time.
	Tolerance float64
	Spent     time.Duration
	// At is the Summary of the trial that confirmed Found.Low, nil where there is none.
	At *bench.Summary
}

// Write writes the answer in a form.
func (c *Capacity) Write(w io.Writer, form Form) error {
	switch form {
	case FormJSON:
		return c.json(w)
	case FormCSV:
		return c.steps(true).Write(w, form)
	}
	t := &table{w: w}
	t.printf("\n%s at %s\n\n", Escape(orServer(c.Model)), Escape(c.Target))
	if t.err == nil {
		t.err = c.steps(false).Write(w, form)
	}
	t.printf("\n%s\n", c.Answer())
	for _, line := range c.more() {
		t.printf("  %s\n", line)
	}
	return t.err
}

func (c *Capacity) unit() string {
	if c.Whole {
		return "requests in flight"
	}
	return "requests per second"
}

// Answer is the result in a sentence.
func (c *Capacity) Answer() string {
	low, met := c.Found.Low.Get()
	high, missed := c.Found.High.Get()
	switch {
	case met && missed:
		return fmt.Sprintf("The largest load that meets the goals lies between %s and %s %s (95 %% interval, %.1f %% wide).",
			digits(low), digits(high), c.unit(), 100*(high/low-1))
	case met:
		return fmt.Sprintf("The goals are met at %s %s, the most that was tried; the largest load lies at or above it.", digits(low), c.unit())
	case missed:
		return fmt.Sprintf("No load is known to meet the goals; the largest that could lies below %s %s.", digits(high), c.unit())
	}
	return "Nothing can be said: at no load was enough seen to tell whether the goals are met."
}

// more says what the answer rests on.
func (c *Capacity) more() []string {
	var out []string
	if low, ok := c.Found.Low.Get(); ok {
		word := "was confirmed by a trial of its own"
		if !c.Found.Confirmed {
			word = "was not confirmed by a trial of its own"
		}
		out = append(out, fmt.Sprintf("%s %s %s.", digits(low), c.unit(), word))
		if c.At != nil {
			for i := range c.At.Goals {
				out = append(out, goalLine(&c.At.Goals[i]))
			}
		}
	}
	for i := range c.Found.Steps {
		if s := &c.Found.Steps[i]; s.EndedEarly != "" {
			out = append(out, fmt.Sprintf("Trial %d, at %s, was ended early: %s.", i+1, digits(s.Load), Sentence(s.EndedEarly)))
		}
	}
	for _, name := range c.Found.Limiting {
		out = append(out, fmt.Sprintf("What gives way first: %s.", Escape(name)))
	}
	why := map[string]string{"tolerance": fmt.Sprintf("the ends are within the tolerance of %s", Quantity(bench.Measured(c.Tolerance), "%")),
		"requests": "the requests allowed are spent (--max-requests); more of them narrow the interval", "time": "the time allowed is up (--max-time); more of it narrows the interval",
		"limit": "the largest load allowed was reached", "no load": "no load was found on both sides"}[c.Found.Stopped]
	if c.Interrupted {
		why = "it was interrupted: this is a partial answer, and the trial that was under way does not count"
	}
	return append(out, fmt.Sprintf("Spent: %s in %s, %s of load. Ended because %s.", bench.Number(c.Found.Requests, "request"), bench.Number(len(c.Found.Steps), "trial"),
		c.Found.Simulated.Round(100*time.Millisecond), why))
}

// steps lists every trial with what was known of its load after it.
func (c *Capacity) steps(bare bool) *Grid {
	g := &Grid{Head: []string{"trial", "load", "why", "requests", "worth", "goal", "value", "interval", "stands"}}
	for i, s := range c.Found.Steps {
		for _, e := range s.Evidence {
			value, stands := evidenceValue(e, e.Value), e.Standing.String()
			switch {
			case bare || s.EndedEarly == "":
			case e.BestCase:
				value, stands = "at best "+value, stands+", ended early"
			default:
				value, stands = "so far "+value, stands+", ended early"
			}
			row := []string{fmt.Sprint(i + 1), digits(s.Load), s.Purpose, fmt.Sprint(s.Requests), fmt.Sprintf("%.0f", e.Effective), Escape(e.Goal.Name),
				value, evidenceValue(e, e.Low) + " to " + evidenceValue(e, e.High), stands}
			if bare {
				row = append(row[1:], Sentence(s.EndedEarly))
			}
			g.Rows = append(g.Rows, row)
		}
	}
	if bare {
		g.Head = []string{"load", "purpose", "requests", "effective_n", "goal", "value", "interval", "standing", "ended_early"}
	}
	return g
}

// evidenceValue writes a share of requests within the bound, or a mean in its unit.
func evidenceValue(e stats.Evidence, x float64) string {
	m := bench.Measured(x)
	if !m.Known() {
		return "open"
	}
	if e.Target == e.Goal.Bound && e.Goal.Statistic == "mean" {
		return Quantity(m, Escape(e.Goal.Unit))
	}
	return Quantity(m, "%")
}

func (c *Capacity) json(w io.Writer) error {
	var o object
	o.put("servemark_slo", 1)
	o.put("target", c.Target)
	o.put("model", orNull(c.Model))
	o.put("load", c.unit())
	o.put("tolerance", c.Tolerance)
	o.put("low", c.Found.Low)
	o.put("high", c.Found.High)
	o.put("confirmed", c.Found.Confirmed)
	o.put("limiting", orEmpty(c.Found.Limiting))
	o.put("requests", c.Found.Requests)
	o.put("load_seconds", c.Found.Simulated.Seconds())
	stopped := c.Found.Stopped
	if c.Interrupted {
		stopped = "interrupted"
	}
	o.put("stopped", stopped)
	steps := make([]*object, len(c.Found.Steps))
	for i, s := range c.Found.Steps {
		steps[i] = &object{}
		steps[i].put("load", s.Load)
		steps[i].put("purpose", s.Purpose)
		steps[i].put("requests", s.Requests)
		steps[i].put("standing", s.Standing.String())
		steps[i].put("planned", s.Planned)
		steps[i].put("ended_early", orNull(s.EndedEarly))
		var goals []*object
		for _, e := range s.Evidence {
			g := &object{}
			g.put("goal", e.Goal.Name)
			g.put("requests", e.Requests)
			g.put("effective_n", e.Effective)
			g.put("value", bench.Measured(e.Value))
			g.put("low", bench.Measured(e.Low))
			g.put("high", bench.Measured(e.High))
			g.put("target", e.Target)
			g.put("standing", e.Standing.String())
			g.put("best_case", e.BestCase)
			goals = append(goals, g)
		}
		steps[i].put("goals", goals)
	}
	o.put("steps", steps)
	if c.At != nil {
		o.put("summary", c.At)
	}
	o.put("answer", c.Answer())
	b, err := o.bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
