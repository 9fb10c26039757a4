package cli

import (
	"slices"
	"strings"
	"testing"
)

var testTable = []flagDef{
	{name: "help", arity: arityHelp},
	{name: "num-prompts", kind: kindInt, preset: []string{"1000"}},
	{name: "num-turns", kind: kindInt},
	{name: "rate", kind: kindRate, preset: []string{"inf"}},
	{name: "ratio", kind: kindFloat},
	{name: "header", arity: arityMany},
	{name: "lora", arity: arityAny},
	{name: "add", arity: arityMany, repeat: true},
	{name: "suffix"},
	{name: "on", arity: aritySwitch},
	{name: "mode", choices: []string{"a", "b"}},
	{name: "number-own", own: true},
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		line   string
		flag   string
		want   []string
		faults int
		rest   int
	}{
		{"--num-prompts 5", "num-prompts", []string{"5"}, 0, 0},
		{"--num-p 5", "num-prompts", []string{"5"}, 0, 0},
		{"--num-prompts=5", "num-prompts", []string{"5"}, 0, 0},
		{"--num-prompts 5 --num-prompts 6", "num-prompts", []string{"6"}, 0, 0},
		{"--num 5", "num-prompts", []string{"1000"}, 1, 0},    // could be two
		{"--number 5", "num-prompts", []string{"1000"}, 1, 0}, // prefixes do not find our own flags
		{"--number-own 5", "number-own", []string{"5"}, 0, 0},
		{"--num-prompts x", "num-prompts", []string{"1000"}, 1, 0},
		{"--num-prompts 1_000", "num-prompts", []string{"1_000"}, 0, 0},
		{"--num-prompts", "num-prompts", []string{"1000"}, 1, 0},
		{"--rate -5ms --on", "rate", []string{"inf"}, 1, 0}, // one slip, one fault
		{"--on -.5x", "on", []string{}, 0, 1},
		{"--ratio -0.5", "ratio", []string{"-0.5"}, 0, 0},
		{"--rate -1", "rate", []string{"-1"}, 0, 0},
		{"--rate -inf", "rate", []string{"inf"}, 1, 0}, // a value, not a flag; and a fault
		{"--header a=1 b=2 --on", "header", []string{"a=1", "b=2"}, 0, 0},
		{"--header a=1 --header b=2", "header", []string{"b=2"}, 0, 0},
		{"--add a --add b c", "add", []string{"a", "b", "c"}, 0, 0},
		{"--header", "header", nil, 1, 0},
		{"--lora", "lora", []string{}, 0, 0},
		{"--on", "on", []string{}, 0, 0},
		{"--on=yes", "on", nil, 1, 0},
		{"--on yes", "on", []string{}, 0, 1},
		{"--mode c", "mode", nil, 1, 0},
		{"--no-such a b --on", "on", []string{}, 1, 0}, // an unknown flag swallows its words: one slip, one fault
		{"-x", "on", nil, 1, 0},
		{"-- --on", "on", nil, 0, 1},
		{"--num-prompts x --ratio y --mode z --what", "on", nil, 4, 0},
		{"stray --on words", "on", []string{}, 0, 2},
	} {
		a := parse(testTable, strings.Fields(tc.line))
		if got := a.list(tc.flag); !slices.Equal(got, tc.want) || len(a.faults) != tc.faults || len(a.rest) != tc.rest {
			t.Errorf("parse(%q): --%s = %q, faults %v, rest %q; want %q, %d faults, %d words", tc.line, tc.flag, got, a.faults, a.rest, tc.want, tc.faults, tc.rest)
		}
	}
	if a := parse(testTable, []string{"--suffix", "- two words"}); a.text("suffix") != "- two words" {
		t.Errorf("parse(--suffix %q) = %q: a text with blanks is a value", "- two words", a.text("suffix"))
	}
	if a := parse(testTable, []string{"-h"}); !a.help {
		t.Error("parse(-h) does not ask for help")
	}
}

func TestFaultsNameCauseAndCure(t *testing.T) {
	for line, want := range map[string]string{
		"--num-promts 5": "did you mean --num-prompts?",
		"--rate 0":       "inf or -1 means unlimited",
		"--rate abc":     "inf or -1 means unlimited",
		"--num 5":        "could be --num-prompts, --num-turns",
		"--mode c":       `"c" is not one of a, b`,
		"--suffix":       "needs a value",
	} {
		a := parse(testTable, strings.Fields(line))
		if len(a.faults) != 1 || !strings.Contains(a.faults[0].String(), want) {
			t.Errorf("parse(%q): faults %v, want one with %q", line, a.faults, want)
		}
	}
}

// FuzzParse holds parse to its laws: it never panics, every word is a flag's, a value, or among the rest, and every value of a
// checked kind reads back.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"--num-prompts 5", "--header a=1 b --on", "--rate=-1 x", "-- --on", "--=", "- -1 --on=", "--ratio 0x1p3", "--num-prompts 1__0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a := parse(testTable, strings.Split(line, " "))
		for name, values := range a.values {
			def := a.def(name)
			for _, v := range values {
				if bad := check(def, v); bad != nil {
					t.Errorf("parse(%q) keeps --%s %q, which is %v", line, name, v, bad)
				}
			}
			if def.arity == arityOne && len(values) > 1 {
				t.Errorf("parse(%q): --%s has %d values, want 1", line, name, len(values))
			}
		}
		if strings.Contains(line, "--num-prompts zz") && len(a.faults) == 0 {
			t.Errorf("parse(%q) finds no fault", line)
		}
	})
}

func TestValues(t *testing.T) {
	for s, want := range map[string]float64{"inf": 0, "-1": 0, "Infinity": 0, "50": 50, " 0.5 ": 0.5, "1e3": 1000, "1_000": 1000} {
		if got, err := parseRate(s); err != nil || got != want {
			t.Errorf("parseRate(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"0", "-2", "nan", "-inf", "abc", "", "1e-300", "0x10", "1__0"} {
		if got, err := parseRate(s); err == nil {
			t.Errorf("parseRate(%q) = %v, want an error", s, got)
		}
	}
	for s, want := range map[string]string{"A=1": "A:1", "A=b=c": "A:b=c", "X-Key: v": "X-Key:v", "K=http://h:1": "K:http://h:1"} {
		got, err := parseHeaders([]string{s})
		name, value, _ := strings.Cut(want, ":")
		if err != nil || got[name] != value {
			t.Errorf("parseHeaders(%q) = %v, %v; want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"oops", "=v", "a b=c", "K=line\nbreak"} {
		if got, err := parseHeaders([]string{s}); err == nil {
			t.Errorf("parseHeaders(%q) = %v, want an error", s, got)
		} else if strings.Contains(err.Error(), "line\nbreak") {
			t.Errorf("parseHeaders(%q) shows a value: %v", s, err)
		}
	}
	for _, s := range []string{"foo:1", "ttft", "ttft:-3", "ttft:inf", "tpot:nan", "e2el:"} {
		if got, err := parseSLO(s); err == nil {
			t.Errorf("parseSLO(%q) = %v, want an error", s, got)
		}
	}
}

func TestWorseFollowsTheOrder(t *testing.T) {
	order := []int{exitInterrupted, exitUsage, exitRefused, exitFailed, exitInvalid, exitGoal, exitOK}
	for i, a := range order {
		for j, b := range order {
			if got, want := worse(a, b), order[min(i, j)]; got != want {
				t.Errorf("worse(%d, %d) = %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestOneSlipOneFault: what follows from a value that could not be taken is no fault of its own.
func TestOneSlipOneFault(t *testing.T) {
	sim := func(a *arguments) { simConfig(a, func(string) string { return "" }) }
	run := func(a *arguments) { runJob(a, func(string) string { return "" }) }
	for _, tc := range []struct {
		line  string
		table []flagDef
		read  func(*arguments)
		want  int
	}{
		{"--ttft -5ms", simTable, sim, 1}, {"--keep-alive", simTable, sim, 1}, {"--keep-alive -3s --itl x", simTable, sim, 2},
		{"--max-seqs 0 --reasoning 2", simTable, sim, 2}, {"--preset nope --schedule vllm", simTable, sim, 1}, {"--lora-modules =", simTable, sim, 1},
		{"host:1 --requests x --duration -3s", runTable, run, 2}, {"host:1 --concurrency", runTable, run, 1}, {"host:1 --runs x --runs-format csv", runTable, run, 1},
	} {
		a := parse(tc.table, strings.Fields(tc.line))
		if tc.read(a); len(a.faults) != tc.want {
			t.Errorf("%q has faults %v, want %d", tc.line, a.faults, tc.want)
		}
	}
}
