package jinja

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// probe is a template and what jinja2 makes of it.
type probe struct {
	Template string  `json:"template"`
	Expected *string `json:"expected"`
	Error    string  `json:"error"`
}

// probes reads testdata/probes.jsonl.gz: the variables, then the probes.
func probes(tb testing.TB) (vars func(testing.TB) Vars, all []probe) {
	tb.Helper()
	f, err := os.Open("testdata/probes.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		tb.Fatal("no probes")
	}
	first := lines.Text()
	for lines.Scan() {
		var p probe
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			tb.Fatal(err)
		}
		all = append(all, p)
	}
	return func(tb testing.TB) Vars { return decodeVars(tb, first) }, all
}

func decodeVars(tb testing.TB, text string) Vars {
	tb.Helper()
	v, err := DecodeJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	vars := Vars{}
	d := v.(*Dict)
	for i, k := range d.keys {
		vars[k.(string)] = d.values[i]
	}
	return vars
}

var noon = time.Date(2026, 3, 5, 7, 8, 9, 123456000, time.UTC)

func render(source string, vars Vars, limits Limits) (string, error) {
	t, err := Parse(source)
	if err != nil {
		return "", err
	}
	return t.Render(context.Background(), vars, noon, limits, 0)
}

func TestProbesOfJinja2(t *testing.T) {
	vars, all := probes(t)
	sameWords, failures := 0, 0
	for _, p := range all {
		got, err := render(p.Template, vars(t), Limits{})
		switch {
		case p.Expected != nil && (err != nil || got != *p.Expected):
			t.Errorf("%q = %q, %v, want %q", p.Template, got, err, *p.Expected)
		case p.Expected == nil && err == nil:
			t.Errorf("%q = %q, want the error %s", p.Template, got, p.Error)
		case p.Expected == nil:
			failures++
			if words, _, _ := strings.Cut(err.Error(), " (line "); words == p.Error {
				sameWords++
			}
		}
	}
	if sameWords*100 < failures*85 {
		t.Errorf("only %d of %d errors have Python's words, want 85 %%", sameWords, failures)
	}
	t.Logf("%d probes, %d of %d errors in Python's own words", len(all), sameWords, failures)
}
