package jinja

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

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

// FuzzRender states what holds for every template: it ends within its limits, the memory it makes is explained by
// its counters, it gives the same text again, and text without tags is itself.
func FuzzRender(f *testing.F) {
	vars, all := probes(f)
	for _, p := range all[:400] {
		f.Add(p.Template)
	}
	for _, templates := range []map[string]string{hostile(), walkers()} {
		for _, source := range templates {
			if len(source) < 1000 {
				f.Add(source)
			}
		}
	}
	limits := Limits{Steps: 100_000, Bytes: 8 << 20}
	f.Fuzz(func(t *testing.T, source string) {
		first, err := render(source, vars(t), limits)
		if tm, bad := Parse(source); bad == nil {
			again, u, errAgain := measure(tm, vars(t), limits)
			if first != again || (err == nil) != (errAgain == nil) {
				t.Errorf("%q renders to %q, %v, then to %q, %v", source, first, err, again, errAgain)
			}
			if u.steps > limits.Steps || u.bytes > limits.Bytes || u.made > u.explained() {
				t.Errorf("%q made %d bytes of memory, its %d steps and %d bytes explain %d", source, u.made, u.steps, u.bytes, u.explained())
			}
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
