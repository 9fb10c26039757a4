package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// The original's measures: labels padded to 40, values to 10, titles centred in 50.
const (
	labelWidth = 40
	valueWidth = 10
	titleWidth = 50
)

// unmeasured stands where there is no figure.
const unmeasured = "n/a"

// table prints lines of label and value; the first error of its writer stays.
type table struct {
	w   io.Writer
	err error
}

func (t *table) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// title prints s centred in c as Python's "^50" does: an odd character of filling goes to the right.
func (t *table) title(s, c string) {
	left := max(0, titleWidth-len(s)) / 2
	t.printf("%s%s%s\n", strings.Repeat(c, left), s, strings.Repeat(c, max(0, titleWidth-len(s)-left)))
}

func (t *table) row(label, value string) {
	t.printf("%-*s %-*s\n", labelWidth, label, valueWidth, value)
}
func (t *table) count(label string, c bench.Count) {
	t.row(label, c.String())
}
func (t *table) int(label string, n int) { t.row(label, strconv.Itoa(n)) }

// float prints a measure with two decimals.
func (t *table) float(label string, m bench.Measure) { t.row(label, decimals(m, 1)) }

// millis prints a measure of seconds in milliseconds.
func (t *table) millis(label string, m bench.Measure) { t.row(label, decimals(m, 1000)) }

func decimals(m bench.Measure, scale float64) string {
	x, ok := m.Get()
	if !ok {
		return unmeasured
	}
	return strconv.FormatFloat(x*scale, 'f', 2, 64)
}

// mean, extreme and percentile of a distribution, which are not measured where it is empty.
func mean(d *bench.Distribution) bench.Measure { return ofSample(d, d.Mean) }
func std(d *bench.Distribution) bench.Measure  { return ofSample(d, d.Std) }
func low(d *bench.Distribution) bench.Measure  { return ofSample(d, d.Min) }
func high(d *bench.Distribution) bench.Measure { return ofSample(d, d.Max) }

func ofSample(d *bench.Distribution, x float64) bench.Measure {
	if d.N == 0 {
		return bench.Measure{}
	}
	return bench.Measured(x)
}

func percentile(d *bench.Distribution, p float64) bench.Measure {
	q, ok := d.Quantile(p)
	if !ok {
		return bench.Measure{}
	}
	return bench.Measured(q.Value)
}

// pythonFloat writes a float as Python's repr does: 5 is "5.0", an exponent has two digits.
func pythonFloat(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if x >= 1e16 || x != 0 && x < 1e-4 {
		return s
	}
	s = strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
