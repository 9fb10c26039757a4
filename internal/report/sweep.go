package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/experiment"
)

// Sweep is what the points of a sweep say together.
type Sweep struct {
	// Target and Model name what was asked; GPUs is how many it runs on, 0 where nobody knows.
	Target string
	Model  string
	GPUs   int
	// GPUsFrom says where GPUs is from.
	GPUsFrom string
	Outcomes []experiment.Outcome
	// Planned is how many points there are to be.
	Planned int
	Goals   []bench.Goal
	// Notes are said below the table.
	Notes []string
}

// Write writes the sweep in a form.
func (s *Sweep) Write(w io.Writer, form Form) error {
	switch form {
	case FormJSON:
		return s.json(w)
	case FormCSV:
		g := s.grid(true)
		return g.Write(w, form)
	}
	g := s.grid(false)
	t := &table{w: w}
	head := fmt.Sprintf("%s at %s", Escape(orServer(s.Model)), Escape(s.Target))
	if s.GPUs > 0 {
		head += fmt.Sprintf(", %s (%s)", bench.Number(s.GPUs, "GPU"), Escape(s.GPUsFrom))
	}
	t.printf("\n%s: %s\n\n", head, bench.Part(len(s.Outcomes), s.Planned, "point"))
	if t.err == nil {
		t.err = g.Write(w, form)
	}
	bullet := "  "
	if form == FormMarkdown {
		bullet = "- "
	}
	t.printf("\n")
	for _, line := range s.Answers() {
		t.printf("%s%s\n", bullet, line)
	}
	return t.err
}

func orServer(model string) string {
	if model == "" {
		return "the server"
	}
	return model
}

// column is one number of the scaling table.
type column struct {
	head, key string
	unit      string
	of        func(*bench.Summary) bench.Measure
}

// columns are those of the table that is published everywhere: speed in all and for each user, first token, token gaps.
func (s *Sweep) columns() []column {
	due := slices.ContainsFunc(s.Outcomes, func(o experiment.Outcome) bool { return o.Summary.Scheduled })
	ttft := func(s *bench.Summary) *bench.Distribution { return &s.TTFT }
	if due {
		ttft = func(s *bench.Summary) *bench.Distribution {
			if s.Scheduled {
				return &s.TTFTFromDue
			}
			return &s.TTFT
		}
	}
	out := []column{
		{"out tok/s", "output_throughput", "tok/s", func(s *bench.Summary) bench.Measure { return s.OutputRate }},
		{"total tok/s", "total_throughput", "tok/s", func(s *bench.Summary) bench.Measure { return s.TotalRate }},
		{"req/s", "request_throughput", "req/s", func(s *bench.Summary) bench.Measure { return s.RequestRate }},
		{"tok/s user", "per_user_p50", "tok/s", func(s *bench.Summary) bench.Measure { return percentile(&s.PerUser, 50) }},
	}
	if s.GPUs > 0 {
		gpus := float64(s.GPUs)
		out = append(out, column{"tok/s GPU", "output_throughput_per_gpu", "tok/s", func(s *bench.Summary) bench.Measure {
			x, ok := s.OutputRate.Get()
			if !ok {
				return bench.Measure{}
			}
			return bench.Measured(x / gpus)
		}})
	}
	return append(out,
		column{"TTFT p50", "ttft_p50", "ms", func(s *bench.Summary) bench.Measure { return percentile(ttft(s), 50) }},
		column{"TTFT p99", "ttft_p99", "ms", func(s *bench.Summary) bench.Measure { return percentile(ttft(s), 99) }},
		column{"ITL p50", "itl_p50", "ms", func(s *bench.Summary) bench.Measure { return percentile(&s.ITL, 50) }},
		column{"ITL p99", "itl_p99", "ms", func(s *bench.Summary) bench.Measure { return percentile(&s.ITL, 99) }},
		column{"E2E p50", "e2e_p50", "ms", func(s *bench.Summary) bench.Measure { return percentile(&s.E2E, 50) }},
	)
}

// grid is the scaling table. In CSV heads are keys and cells bare numbers: times in milliseconds.
func (s *Sweep) grid(bare bool) *Grid {
	g := &Grid{}
	if len(s.Outcomes) > 0 {
		for _, set := range s.Outcomes[0].Point.Settings {
			g.Head = append(g.Head, Escape(set.Flag))
		}
	}
	columns := s.columns()
	g.Head = append(g.Head, "ok")
	for _, c := range columns {
		if bare && c.unit == "ms" {
			g.Head = append(g.Head, c.key+"_ms")
		} else if bare {
			g.Head = append(g.Head, c.key)
		} else if c.unit == "ms" {
			g.Head = append(g.Head, c.head+" ms")
		} else {
			g.Head = append(g.Head, c.head)
		}
	}
	g.Head = append(g.Head, "cached", "verdict", "")
	if bare {
		g.Head = append(g.Head[:len(g.Head)-1], "pareto", "knee", "seed", "journal")
	}
	pareto, knee := experiment.Pareto(s.Outcomes), experiment.Knee(s.Outcomes)
	for i := range s.Outcomes {
		o := &s.Outcomes[i]
		var row []string
		for _, set := range o.Point.Settings {
			row = append(row, Escape(set.Value))
		}
		row = append(row, fmt.Sprintf("%d/%d", o.Summary.Completed, o.Summary.Sent))
		for _, c := range columns {
			m := c.of(&o.Summary)
			switch {
			case bare && !m.Known():
				row = append(row, "")
			case c.unit == "ms":
				row = append(row, Quantity(scaled(m), ""))
			default:
				row = append(row, Quantity(m, ""))
			}
		}
		row = append(row, cachedShare(&o.Summary), string(o.Summary.Verdict.Level))
		if bare {
			row = append(row, fmt.Sprint(pareto[i]), fmt.Sprint(i == knee), fmt.Sprint(o.Seed), o.Journal)
		} else {
			row = append(row, marks(pareto[i], i == knee))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func marks(pareto, knee bool) string {
	var m []string
	if pareto {
		m = append(m, "P")
	}
	if knee {
		m = append(m, "knee")
	}
	return strings.Join(m, " ")
}

// cachedShare shows how much of the prompts the server had in its prefix cache.
func cachedShare(s *bench.Summary) string {
	c := cacheOf(s)
	if !c.rate.Known() {
		return unmeasured
	}
	return Quantity(c.rate, "%")
}

// Answers are what the sweep says in words: of each goal where it is met, the knee, the Pareto points, how output scales.
func (s *Sweep) Answers() []string {
	var out []string
	for i := range s.Goals {
		out = append(out, s.goalAnswer(i))
	}
	out = append(out, s.scaling()...)
	if k := experiment.Knee(s.Outcomes); k >= 0 && len(s.Outcomes) > 2 {
		at := Escape(s.Outcomes[k].Point.Name())
		bend := "Knee at " + at + ": output in all times speed per user is largest there (Kleinrock's power)."
		if k == len(s.Outcomes)-1 {
			bend = "No knee up to " + at + ": output in all times speed per user still grows (Kleinrock's power)."
		}
		out = append(out, bend+" P marks the points that no other beats in both.")
	}
	for i := range s.Outcomes {
		for _, f := range s.Outcomes[i].Findings {
			out = append(out, fmt.Sprintf("%s: %s", Escape(s.Outcomes[i].Point.Name()), Sentence(f)))
		}
	}
	for i := range s.Outcomes {
		if v := s.Outcomes[i].Summary.Verdict; v.Level != bench.Valid {
			out = append(out, fmt.Sprintf("%s is %s: %s", Escape(s.Outcomes[i].Point.Name()), v.Level, Sentence(strings.Join(v.Causes, "; "))))
		}
	}
	return append(out, s.Notes...)
}

// goalAnswer says where a goal is met.
func (s *Sweep) goalAnswer(i int) string {
	var met []int
	best := -1
	for k := range s.Outcomes {
		if i >= len(s.Outcomes[k].Summary.Goals) {
			continue
		}
		g := &s.Outcomes[k].Summary.Goals[i]
		m, ok := g.Margin().Get()
		if !ok && !g.Value.Known() {
			continue
		}
		if g.Met {
			met = append(met, k)
		}
		if best < 0 {
			best = k
		} else if b, _ := s.Outcomes[best].Summary.Goals[i].Margin().Get(); m > b {
			best = k
		}
	}
	name := Escape(s.Goals[i].Name)
	if best < 0 {
		return fmt.Sprintf("?    %s: not measured at any point", name)
	}
	top := &s.Outcomes[best].Summary.Goals[i]
	reached := fmt.Sprintf("%s at %s", Quantity(top.Value, Escape(top.Goal.Unit)), Escape(s.Outcomes[best].Point.Name()))
	if m, ok := top.Margin().Get(); ok {
		reached += ", " + margin(m)
	}
	if len(met) == 0 {
		return fmt.Sprintf("NO   %s: nowhere; nearest is %s", name, reached)
	}
	return fmt.Sprintf("YES  %s: %s; best is %s", name, s.where(met), reached)
}

// where writes points in words: "from concurrency 64 on", "up to rate 3", or each of them.
func (s *Sweep) where(met []int) string {
	last := len(s.Outcomes) - 1
	name := func(k int) string { return Escape(s.Outcomes[k].Point.Name()) }
	one := len(s.Outcomes[0].Point.Settings) == 1
	run := met[len(met)-1]-met[0] == len(met)-1
	switch {
	case len(met) == len(s.Outcomes) && len(met) > 1:
		return "at every point"
	case len(met) == 1:
		return "at " + name(met[0])
	case one && run && met[len(met)-1] == last:
		return "from " + name(met[0]) + " on"
	case one && run && met[0] == 0:
		return "up to " + name(met[len(met)-1])
	}
	var all []string
	for _, k := range met {
		all = append(all, name(k))
	}
	return "at " + strings.Join(all, "; at ")
}

// scaling compares the first and the last point of a sweep over one flag.
func (s *Sweep) scaling() []string {
	if len(s.Outcomes) < 2 || len(s.Outcomes[0].Point.Settings) != 1 {
		return nil
	}
	a, b := &s.Outcomes[0], &s.Outcomes[len(s.Outcomes)-1]
	x, ok1 := a.Summary.OutputRate.Get()
	y, ok2 := b.Summary.OutputRate.Get()
	u, ok3 := percentile(&a.Summary.PerUser, 50).Get()
	v, ok4 := percentile(&b.Summary.PerUser, 50).Get()
	if !(ok1 && ok2 && ok3 && ok4) || x <= 0 || u <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("From %s to %s output grows %s-fold (%s to %s tok/s) while each user's speed goes from %s to %s tok/s.",
		Escape(a.Point.Name()), Escape(b.Point.Name()), digits(y/x), digits(x), digits(y), digits(u), digits(v))}
}

// json writes everything: each point's whole Summary, and which points stand out.
func (s *Sweep) json(w io.Writer) error {
	var o object
	o.put("servemark_sweep", 1)
	o.put("target", s.Target)
	o.put("model", orNull(s.Model))
	o.put("gpus", positiveOrNull(s.GPUs))
	o.put("planned", s.Planned)
	o.put("goals", orEmpty(s.Goals))
	pareto, knee := experiment.Pareto(s.Outcomes), experiment.Knee(s.Outcomes)
	points := make([]*object, len(s.Outcomes))
	for i := range s.Outcomes {
		out := &s.Outcomes[i]
		p := &object{}
		p.put("settings", out.Point.Settings)
		p.put("seed", out.Seed)
		p.put("fingerprint", out.Fingerprint)
		p.put("journal", orNull(out.Journal))
		p.put("pareto", pareto[i])
		p.put("knee", i == knee)
		p.put("findings", orEmpty(out.Findings))
		p.put("summary", out.Summary)
		points[i] = p
	}
	o.put("points", points)
	o.put("answers", orEmpty(s.Answers()))
	b, err := o.bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
