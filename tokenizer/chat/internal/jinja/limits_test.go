package jinja

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are templates that would run for ever, fill the memory or overflow the stack.
func hostile() map[string]string {
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	return map[string]string{
		"huge range":             "{% for i in range(10**9) %}x{% endfor %}",
		"nested loops":           "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
		"nested empty filters":   "{% for i in range(100000) if range(100000)|sum == 1 %}{% endfor %}",
		"text times number":      "{{ 'a' * 10**9 }}",
		"text times huge number": "{{ 'a' * 10**30 }}",
		"list times number":      "{{ [0] * 10**9 }}",
		"doubling":               "{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
		"doubling lists":         "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
		"doubling by replace":    "{% set ns = namespace(s='aa') %}{% for i in range(100) %}{% set ns.s = ns.s|replace('a', 'aa') %}{% endfor %}",
		"doubling by a block":    "{% set ns = namespace(s='aa') %}{% for i in range(100) %}{% set x %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = x %}{% endfor %}",
		"shared lists printed":   "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
		"shared lists as JSON":   "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s|tojson }}",
		"shared lists compared":  "{% set a = namespace(s=[1]) %}{% set b = namespace(s=[1]) %}{% for i in range(100) %}{% set a.s = [a.s, a.s] %}{% set b.s = [b.s, b.s] %}{% endfor %}{{ a.s == b.s }}",
		"power":                  "{{ 10 ** (10 ** 10) }}",
		"squares":                "{% set ns = namespace(n=3) %}{% for i in range(1000) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
		"macro calls itself":     "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"macro twice itself":     "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(100) }}",
		"macros call each other": "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
		"default calls itself":   "{% macro f(a=f()) %}{% endmacro %}{{ f() }}",
		"loop calls itself":      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
		"caller calls itself":    "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ g() }}",
		"brackets":               "{{ " + nest("(", "1", ")", 100_000) + " }}",
		"lists":                  "{{ " + nest("[", "1", "]", 100_000) + " }}",
		"minus":                  "{{ " + strings.Repeat("-", 1_000_000) + "1 }}",
		"not":                    "{{ " + strings.Repeat("not ", 1_000_000) + "1 }}",
		"if else":                "{{ " + strings.Repeat("1 if 0 else ", 300_000) + "1 }}",
		"long sum":               "{{ 1" + strings.Repeat("+1", 1_000_000) + " }}",
		"long attributes":        "{{ x" + strings.Repeat(".a", 1_000_000) + " }}",
		"long filters":           "{{ x" + strings.Repeat("|e", 1_000_000) + " }}",
		"blocks":                 nest("{% if 1 %}", "", "{% endif %}", 50_000),
		"loops in loops":         nest("{% for i in [1, 2] %}", "", "{% endfor %}", 90),
		"wide format":            "{{ '%2000000000d' % 1 }}",
		"wide format by star":    "{{ '%*d' % (2000000000, 1) }}",
		"precise format":         "{{ '%.2000000000f' % 1 }}",
		"wide str.format":        "{{ '{:2000000000}'.format(1) }}",
		"wide ljust":             "{{ 'a'.ljust(10**12) }}",
		"wide center":            "{{ 'a'|center(10**12) }}",
		"wide zfill":             "{{ '1'.zfill(10**12) }}",
		"wide indent":            "{{ 'a\nb'|indent(10**12) }}",
		"wide JSON":              "{{ [1]|tojson(indent=10**9) }}",
		"wide tabs":              "{{ ('\t' * 1000).expandtabs(10**9) }}",
		"many slices":            "{{ [1]|slice(10**12)|list }}",
		"many fillers":           "{{ [1]|batch(10**12, 0)|list }}",
		"joined":                 "{{ range(100000)|join('x' * 100000) }}",
		"joined by method":       "{{ ('x' * 100000).join(range(100000)|map('string')) }}",
		"sum of lists":           "{{ ([[1] * 1000] * 100000)|sum(start=[]) }}",
		"search in search":       "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s ~ 'b' in s %}{% endfor %}",
		"count in loop":          "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s.count('aa') %}{% endfor %}",
		"index in loop":          "{% set s = 'é' * 1000000 %}{% for i in range(100000) %}{% set x = s[999999] %}{% endfor %}",
		"length in loop":         "{% set s = 'é' * 1000000 %}{% for i in range(100000) %}{% set x = s|length %}{% endfor %}",
		"strip in loop":          "{% set s = ' ' * 1000000 %}{% for i in range(100000) %}{% set x = s.strip() %}{% endfor %}",
		"sorted in loop":         "{% for i in range(100000) %}{% set x = range(100000)|sort %}{% endfor %}",
	}
}

// TestHostileTemplatesEnd states the bounds: three seconds (on a busy machine) and a memory that the limit of bytes explains.
func TestHostileTemplatesEnd(t *testing.T) {
	limits := Limits{Steps: 500_000, Bytes: 32 << 20}
	for name, source := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		got, err := render(source, Vars{}, limits)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: rendered %d bytes, want an error", name, len(got))
		}
		if took > 3*time.Second {
			t.Errorf("%s: took %v (%v), want under 3 s", name, took, err)
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 300 {
			t.Errorf("%s: made %d MB (%v), want at most 300", name, made, err)
		}
	}
}

func TestDefaultLimitsAllowLongConversations(t *testing.T) {
	msgs := NewList()
	for range 2000 {
		m := NewDict()
		m.Set("content", strings.Repeat("word ", 400))
		msgs.Items = append(msgs.Items, m)
	}
	vars := Vars{"messages": msgs}
	source := "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + m.content.split(' ')|length %}{{ m.content|trim|replace('word', 'words') }}{% endfor %}{{ messages|tojson|length }}"
	if got, err := render(source, vars, Limits{}); err != nil || len(got) < 4_000_000 {
		t.Errorf("a conversation of 4 MB renders to %d bytes, %v, want all of it", len(got), err)
	}
}

func TestInterrupt(t *testing.T) {
	tm, err := Parse("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = tm.Render(ctx, Vars{}, noon, Limits{Steps: 1 << 60}, 0)
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > time.Second {
		t.Errorf("interrupted Render = %v after %v, want the context's error at once", err, took)
	}
}

func FuzzRender(f *testing.F) {
	vars, all := probes(f)
	for _, p := range all[:400] {
		f.Add(p.Template)
	}
	for _, source := range hostile() {
		if len(source) < 1000 {
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		start := time.Now()
		first, err := render(source, vars(t), Limits{Steps: 100_000, Bytes: 8 << 20})
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q took %v", source, took)
		}
		again, errAgain := render(source, vars(t), Limits{Steps: 100_000, Bytes: 8 << 20})
		if first != again || (err == nil) != (errAgain == nil) {
			t.Errorf("%q renders to %q, %v, then to %q, %v", source, first, err, again, errAgain)
		}
		if err == nil && strings.IndexByte(source, '{') < 0 {
			want := strings.TrimSuffix(strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n"), "\n")
			if first != want {
				t.Errorf("text without tags %q renders to %q, want %q", source, first, want)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1.0,null,true,"é\u2028\n"]}`, `-0.0`, `1e400`, `123456789012345678901`, `"\ud83d\ude42"`, `[[[]]]`, `{"a":1,"a":2}`} {
		f.Add(s)
	}
	t, err := Parse("{{ v|tojson }}")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(tt *testing.T, s string) {
		v, err := DecodeJSON([]byte(s))
		if err != nil {
			return
		}
		once, err := t.Render(context.Background(), Vars{"v": v}, noon, Limits{}, 0)
		if err != nil || strings.Contains(once, "Infinity") {
			return // nested too deep to print, or a number that JSON cannot hold
		}
		back, err := DecodeJSON([]byte(once))
		if err != nil {
			tt.Fatalf("DecodeJSON(tojson(%q)) = %v, from %q", s, err, once)
		}
		if twice, err := t.Render(context.Background(), Vars{"v": back}, noon, Limits{}, 0); err != nil || twice != once {
			tt.Errorf("tojson of %q = %q, decoded and again %q, %v", s, once, twice, err)
		}
	})
}
