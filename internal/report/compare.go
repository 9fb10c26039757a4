package report

import (
	"fmt"
	"io"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// Side is one side of a comparison.
type Side struct {
	Name string `json:"name"`
	Runs int    `json:"runs"`
	// Doubtful counts its runs that are not VALID.
	Doubtful int      `json:"not_valid"`
	Files    []string `json:"files"`
}

// Comparison is what two or more sides say; the first is the base.
type Comparison struct {
	Sides []Side
	// Against holds each side after the first against it.
	Against []stats.Comparison
	Paired  bool
	// Workload says in words how it is known that the sides were asked the same.
	Workload string
	Notes    []string
}

// Write writes the comparison in a form.
func (c *Comparison) Write(w io.Writer, form Form) error {
	switch form {
	case FormJSON:
		return c.json(w)
	case FormCSV:
		g := &Grid{Head: []string{"base", "side", "metric", "headline", "runs_a", "runs_b", "a", "b", "change", "low", "high", "p", "p_corrected", "detectable", "says"}}
		for i := range c.Against {
			c.csvRow(g, i, &c.Against[i].Headline, true)
			for k := range c.Against[i].Others {
				c.csvRow(g, i, &c.Against[i].Others[k], false)
			}
		}
		return g.Write(w, form)
	}
	t := &table{w: w}
	for i, s := range c.Sides {
		t.printf("%s  %s: %s\n", letter(i), Escape(s.Name), runsInWords(s))
	}
	t.printf("workload: %s\n", Sentence(c.Workload))
	for _, n := range c.Notes {
		t.printf("note: %s\n", Sentence(n))
	}
	for i := range c.Against {
		c.side(t, i, form)
	}
	return t.err
}

func letter(i int) string { return string(rune('A' + i%26)) }

func runsInWords(s Side) string {
	out := fmt.Sprintf("%d runs", s.Runs)
	if s.Runs == 1 {
		out = "1 run"
	}
	if s.Doubtful > 0 {
		out += fmt.Sprintf(", %d of them not VALID", s.Doubtful)
	}
	return out
}

// side prints one comparison: the headline in a sentence, the rest in a table.
func (c *Comparison) side(t *table, i int, form Form) {
	d := &c.Against[i].Headline
	t.printf("\n%s against A, by %s: %s\n", letter(i+1), d.Name, c.verdict(d))
	if p, ok := d.P.Get(); ok {
		t.printf("  95 %% interval %s to %s, p %s", percentChange(d.Low), percentChange(d.High), chance(p))
		if q, _ := d.Corrected.Get(); len(c.Against) > 1 {
			t.printf(" (%s corrected for %d sides)", chance(q), len(c.Against))
		}
		t.printf(". Runs with this spread find a change of %s in four of five comparisons.\n", Quantity(d.Detectable, "%"))
	}
	others := c.Against[i].Others
	if len(others) == 0 {
		return
	}
	t.printf("\n")
	g := &Grid{Head: []string{"", "A", letter(i + 1), "change", "95 % interval", "p", "p corrected", "says"}}
	for k := range others {
		o := &others[k]
		unit := unitOf(o.Dimension)
		g.Rows = append(g.Rows, []string{o.Name, Quantity(o.A, unit), Quantity(o.B, unit), percentChange(o.Change), between(o), chanceOf(o.P), chanceOf(o.Corrected), string(o.Says)})
	}
	if t.err == nil {
		t.err = g.Write(t.w, form)
	}
}

// verdict says in words what the headline says.
func (c *Comparison) verdict(d *stats.Difference) string {
	unit := unitOf(d.Dimension)
	values := fmt.Sprintf("%s to %s, %s", Quantity(d.A, unit), Quantity(d.B, unit), percentChange(d.Change))
	switch {
	case d.Says == stats.NotMeasured:
		return "not measured on both sides"
	case d.Says == stats.Indicative && d.RunsA == 1 && d.RunsB == 1:
		return values + "; one run each: indicative only (five or more for a verdict: servemark run --runs 5)"
	case d.Says == stats.Indicative:
		return fmt.Sprintf("%s; %d and %d runs: indicative only (five or more for a verdict)", values, d.RunsA, d.RunsB)
	}
	return fmt.Sprintf("%s (%s)", d.Says, values)
}

// percentChange writes a share as a change.
func percentChange(m bench.Measure) string {
	x, ok := m.Get()
	if !ok {
		return unmeasured
	}
	return fmt.Sprintf("%+.1f %%", 100*x)
}

func between(d *stats.Difference) string {
	if !d.Low.Known() {
		return unmeasured
	}
	return percentChange(d.Low) + " to " + percentChange(d.High)
}

func chance(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

func chanceOf(m bench.Measure) string {
	p, ok := m.Get()
	if !ok {
		return unmeasured
	}
	return chance(p)
}

func (c *Comparison) csvRow(g *Grid, i int, d *stats.Difference, headline bool) {
	cell := func(m bench.Measure) string {
		x, ok := m.Get()
		if !ok {
			return ""
		}
		return fmt.Sprintf("%.9g", x)
	}
	g.Rows = append(g.Rows, []string{Escape(c.Sides[0].Name), Escape(c.Sides[i+1].Name), d.Name, fmt.Sprint(headline), fmt.Sprint(d.RunsA), fmt.Sprint(d.RunsB),
		cell(d.A), cell(d.B), cell(d.Change), cell(d.Low), cell(d.High), cell(d.P), cell(d.Corrected), cell(d.Detectable), string(d.Says)})
}

func (c *Comparison) json(w io.Writer) error {
	var o object
	o.put("servemark_compare", 1)
	o.put("sides", c.Sides)
	o.put("workload", c.Workload)
	o.put("paired", c.Paired)
	o.put("notes", orEmpty(c.Notes))
	o.put("against_first", c.Against)
	b, err := o.bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
