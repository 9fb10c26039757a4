package jinja

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Ways to nest and repeat source text.
func nest(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func list(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

// shared makes ns.x, a tuple of 2^28 parts that are all the same, of 28 lists; other makes its like, ms.x.
const (
	shared = "{% set ns = namespace(x=()) %}{% for i in range(28) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
	other  = "{% set ms = namespace(x=()) %}{% for i in range(28) %}{% set ms.x = (ms.x, ms.x) %}{% endfor %}"
)

// hostile are templates that would run for ever, fill the memory or overflow the stack.
func hostile() map[string]string {
	return map[string]string{
		"huge range":                "{% for i in range(10**9) %}x{% endfor %}",
		"nested loops":              "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
		"nested empty filters":      "{% for i in range(100000) if range(100000)|sum == 1 %}{% endfor %}",
		"text times number":         "{{ 'a' * 10**9 }}",
		"text times huge number":    "{{ 'a' * 10**30 }}",
		"list times number":         "{{ [0] * 10**9 }}",
		"doubling":                  "{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
		"doubling lists":            "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
		"doubling by replace":       "{% set ns = namespace(s='aa') %}{% for i in range(100) %}{% set ns.s = ns.s|replace('a', 'aa') %}{% endfor %}",
		"doubling by a block":       "{% set ns = namespace(s='aa') %}{% for i in range(100) %}{% set x %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = x %}{% endfor %}",
		"shared lists printed":      "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
		"shared lists as JSON":      "{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s|tojson }}",
		"shared lists compared":     "{% set a = namespace(s=[1]) %}{% set b = namespace(s=[1]) %}{% for i in range(100) %}{% set a.s = [a.s, a.s] %}{% set b.s = [b.s, b.s] %}{% endfor %}{{ a.s == b.s }}",
		"power":                     "{{ 10 ** (10 ** 10) }}",
		"squares":                   "{% set ns = namespace(n=3) %}{% for i in range(1000) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
		"macro calls itself":        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"macro twice itself":        "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(100) }}",
		"macros call each other":    "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
		"default calls itself":      "{% macro f(a=f()) %}{% endmacro %}{{ f() }}",
		"loop calls itself":         "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
		"caller calls itself":       "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ g() }}",
		"loops in loops":            nest("{% for i in [1, 2] %}", "", "{% endfor %}", 90),
		"wide format":               "{{ '%2000000000d' % 1 }}",
		"wide format by star":       "{{ '%*d' % (2000000000, 1) }}",
		"precise format":            "{{ '%.2000000000f' % 1 }}",
		"wide str.format":           "{{ '{:2000000000}'.format(1) }}",
		"wide ljust":                "{{ 'a'.ljust(10**12) }}",
		"wide center":               "{{ 'a'|center(10**12) }}",
		"wide zfill":                "{{ '1'.zfill(10**12) }}",
		"wide indent":               "{{ 'a\nb'|indent(10**12) }}",
		"wide JSON":                 "{{ [1]|tojson(indent=10**9) }}",
		"wide tabs":                 "{{ ('\t' * 1000).expandtabs(10**9) }}",
		"many slices":               "{{ [1]|slice(10**12)|list }}",
		"many fillers":              "{{ [1]|batch(10**12, 0)|list }}",
		"joined":                    "{{ range(100000)|join('x' * 100000) }}",
		"joined by method":          "{{ ('x' * 100000).join(range(100000)|map('string')) }}",
		"sum of lists":              "{{ ([[1] * 1000] * 100000)|sum(start=[]) }}",
		"search in search":          "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s ~ 'b' in s %}{% endfor %}",
		"count in loop":             "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s.count('aa') %}{% endfor %}",
		"index in loop":             "{% set s = 'é' * 1000000 %}{% for i in range(100000) %}{% set x = s[999999] %}{% endfor %}",
		"length in loop":            "{% set s = 'é' * 1000000 %}{% for i in range(100000) %}{% set x = s|length %}{% endfor %}",
		"strip in loop":             "{% set s = ' ' * 1000000 %}{% for i in range(100000) %}{% set x = s.strip() %}{% endfor %}",
		"sorted in loop":            "{% for i in range(100000) %}{% set x = range(100000)|sort %}{% endfor %}",
		"capturing":                 `{% set ns = namespace(s='a' * 1000) %}{% for i in range(1000) %}{% set x %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = x %}{% endfor %}`,
		"random draws":              `{% for i in range(100000) %}{% set x = range(100000)|random %}{% endfor %}`,
		"numbers of many digits":    `{% for i in range(100000) %}{% set x = ('1' * 10**5)|float %}{% endfor %}`,
		"concatenation in one text": `{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}`,
		"slices of a slice":         `{% set s = 'é' * 10**5 %}{% for i in range(10000) %}{% set x = s[::-1] %}{% endfor %}`,
		"filter of a block":         `{% filter indent(10**7, true) %}a{% endfilter %}`,
		"long numbers kept":         `{% set n = 2**60000 %}{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [n + i, ns.x] %}{% endfor %}`,
		"division of long numbers":  `{% set n = 2**60000 %}{% for i in range(100000) %}{% set x = (n + i) / (n - 1) %}{% endfor %}`,
	}
}

// walkers are templates that would go over a value more often than its size lets expect.
func walkers() map[string]string {
	return map[string]string{
		"shared tuples as a key":       shared + `{{ {ns.x: 1}|length }}`,
		"shared tuples looked up":      shared + `{{ {}[ns.x] }}`,
		"shared tuples got":            shared + `{{ {}.get(ns.x) }}`,
		"shared tuples in a dict":      shared + `{{ ns.x in {} }}`,
		"shared tuples unique":         shared + `{{ [ns.x]|unique|list|length }}`,
		"shared tuples as a filter":    shared + `{{ ns.x is filter }}`,
		"shared tuples as text":        shared + `{{ ns.x|string|length }}`,
		"shared tuples as JSON":        shared + `{{ ns.x|tojson|length }}`,
		"shared tuples printed":        shared + `{{ ns.x|pprint }}`,
		"shared tuples formatted":      shared + `{{ '%r' % [ns.x] }}`,
		"shared tuples joined":         shared + `{{ [ns.x]|join|length }}`,
		"shared tuples equal":          shared + other + `{{ ns.x == ms.x }}`,
		"shared tuples in order":       shared + other + `{{ ns.x < ms.x }}`,
		"shared tuples found":          shared + other + `{{ ns.x in [ms.x] }}`,
		"shared tuples sorted":         shared + other + `{{ [ns.x, ms.x]|sort|length }}`,
		"shared tuples grouped":        shared + other + `{{ [{'a': ns.x}, {'a': ms.x}]|groupby('a')|length }}`,
		"shared tuples least":          shared + other + `{{ [ns.x, ms.x]|min|length }}`,
		"shared tuples counted":        shared + other + `{{ [ns.x].count(ms.x) }}`,
		"shared tuples changed":        shared + other + `{% for x in [ns.x, ms.x] %}{{ loop.changed(x) }}{% endfor %}`,
		"namespaces in each other":     `{% set n = [namespace(), namespace(), namespace(), namespace(), namespace(), namespace(), namespace(), namespace(), namespace(), namespace()] %}{% for x in n %}{% set y = x %}{% set y.n = n %}{% endfor %}{{ n }}`,
		"names of days":                `{{ strftime_now('%A' * 10**7)|length }}`,
		"names of days in reach":       `{% for i in range(100) %}{{ strftime_now('%A' * 10**5)|length }}{% endfor %}`,
		"parts of a text":              `{{ ('a ' * 10**7).split()|length }}`,
		"parts of a text in reach":     `{% for i in range(100) %}{{ ('a ' * 10**5).split(' ')|length }}{% endfor %}`,
		"lines of a text":              `{% for i in range(100) %}{{ ('\n' * 10**6).splitlines()|length }}{% endfor %}`,
		"lines indented":               `{% for i in range(100) %}{{ ('a\n' * 10**5)|indent(10)|length }}{% endfor %}`,
		"width of eleven digits":       `{{ '%10000000000d'|format(1)|length }}`,
		"width of many digits":         "{{ '%" + strings.Repeat("9", 100_000) + "d' % 1 }}",
		"width in a number":            `{{ '%*d' % (10**30, 1) }}`,
		"precision of ten digits":      `{{ '{:.9999999999f}'.format(1.5)|length }}`,
		"formatting one text often":    `{% set s = 'x' * 10**6 %}{{ ('%s' * 10**5) % ((s,) * 10**5) }}`,
		"formatting one field often":   `{% set s = 'x' * 10**6 %}{{ ('{0}' * 10**5).format(s) }}`,
		"padding many":                 `{{ (['a'] * 10**5)|map('center', 10**5)|list|length }}`,
		"an unread generator":          `{% for i in range(100) %}{% set x = (['a'] * 10**5)|map('center', 10**5) %}{% endfor %}`,
		"an error kept for later":      `{% set s = 'x' * 10**6 %}{% for i in range(100000) %}{% set x = [1]|map(s) %}{% endfor %}`,
		"a limit put otherwise":        `{% for a, b in ['x' * 10**6] %}{% endfor %}`,
		"long keys as JSON":            `{{ ([{'x' * 10**6: 1}] * 10**5)|tojson|length }}`,
		"empty lists with an indent":   `{{ ([[]] * 10**5)|tojson(indent=10**5)|length }}`,
		"long texts without case":      `{{ (['A' * 10**6] * 10**5)|sort|length }}`,
		"long texts the least":         `{{ (['A' * 10**6] * 10**5)|min|length }}`,
		"long texts grouped":           `{{ ([{'a': 'A' * 10**6}] * 10**5)|groupby('a')|length }}`,
		"long texts unique":            `{{ (['A' * 10**6] * 10**5)|unique|list|length }}`,
		"a long path":                  `{% set ns = namespace() %}{% set ns.a = ns %}{{ ([ns] * 10**5)|map(attribute='a.' * 10**5 ~ 'a')|list|length }}`,
		"a long path in a format":      `{% set ns = namespace() %}{% set ns.a = ns %}{{ ('{0' ~ '.a' * 10**6 ~ '}').format(ns) }}`,
		"a long path of numbers":       `{% set ns = namespace(x=[]) %}{% for i in range(10000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ([ns.x] * 10**5)|map(attribute='0.' * 9999 ~ '0')|list|length }}`,
		"many paths":                   `{{ ([{}] * 10**5)|sort(attribute=',' * 10**5)|length }}`,
		"lists that differ at the end": `{% set a = [0] * 10**5 + [1] %}{% set b = [0] * 10**5 + [2] %}{% for i in range(10000) %}{% set x = a == b %}{% endfor %}`,
		"stripping of many letters":    `{% set s = 'x' * 10**6 %}{% for i in range(1000) %}{{ s.strip('abc' * 10**5 ~ 'x')|length }}{% endfor %}`,
		"many long beginnings":         `{% set s = 'x' * 10**6 %}{{ s.startswith((s ~ 'y', ) * 10**5) }}`,
		"copies of a dict":             `{% set d = {'x' * 10**6: 1} %}{% for i in range(100000) %}{% set x = d.copy() %}{% endfor %}`,
		"lookups of a long key":        `{% set s = 'x' * 10**6 %}{% for i in range(100000) %}{% set x = {}[s] %}{% endfor %}`,
		"cyclers of many":              `{% set l = [0] * 10**5 %}{% set ns = namespace(x=[]) %}{% for i in range(10000) %}{% set ns.x = [cycler(*l), ns.x] %}{% endfor %}`,
		"many named arguments":         "{% macro m(" + list(30_000, "a%d") + ") %}{% endmacro %}{% for i in range(100) %}{{ m(" + list(3_000, "a%d=1") + ") }}{% endfor %}",
		"many names":                   list(10_000, "{%% set a%d = 1 %%}") + "{% for i in range(100000) %}{{ a9999 }}{% endfor %}",
	}
}

// TestHostileTemplatesEnd states the bounds: a limit ends each of them, and the counters, none above its limit,
// explain the memory that was made.
func TestHostileTemplatesEnd(t *testing.T) {
	limits := Limits{Steps: 500_000, Bytes: 32 << 20}
	for _, templates := range []map[string]string{hostile(), walkers()} {
		for name, source := range templates {
			tm, err := Parse(source)
			if err != nil {
				t.Errorf("%s: Parse = %v", name, err)
				continue
			}
			text, u, err := measure(tm, Vars{}, limits)
			var e *Error
			if !errors.As(err, &e) || e.Kind != "LimitError" && e.Kind != "RecursionError" && e.Kind != "OverflowError" {
				t.Errorf("%s = %d bytes, %v, want the error of a limit", name, len(text), err)
			}
			if u.steps > limits.Steps || u.bytes > limits.Bytes || u.made > u.explained() {
				t.Errorf("%s: made %d bytes of memory (%v), its %d steps and %d bytes explain %d", name, u.made, err, u.steps, u.bytes, u.explained())
			}
		}
	}
}

// TestStrangeTemplatesEnd gives those that look endless, but have a result in Python, or another error.
func TestStrangeTemplatesEnd(t *testing.T) {
	deep, err := DecodeJSON([]byte(nest("[", "", "]", 900)))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ source, want string }{
		"a namespace in itself":           {`{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}{{ ns == ns }}{{ ns in [ns] }}{{ {ns: 1}[ns] }}`, `<Namespace {'x': <Namespace {...}>}>TrueTrue1`},
		"a namespace in itself as JSON":   {`{% set ns = namespace() %}{% set ns.x = ns %}{{ ns|tojson }}`, `TypeError`},
		"shared tuples with themselves":   {shared + `{{ ns.x == ns.x }}{{ ns.x < ns.x }}{{ ns.x in [ns.x] }}`, `TrueFalseTrue`},
		"many digits as an int":           {`{{ ('9' * 10**6)|int }}`, `0`},
		"many digits as a float":          {`{{ ('9' * 10**6)|float }}`, `inf`},
		"a long integer as text":          {`{{ 10**5000 }}`, `ValueError`},
		"a long integer as JSON":          {`{{ (10**5000)|tojson }}`, `ValueError`},
		"a long integer formatted":        {`{{ '%d' % 10**5000 }}`, `ValueError`},
		"a template that includes itself": {`{% include 'x' %}`, `TypeError`},
		"a value nested deep":             {`{{ deep|tojson }}`, `RecursionError`},
		"a value nested deep as a key":    {`{% set ns = namespace(x=()) %}{% for i in range(500) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ {ns.x: 1} }}`, `RecursionError`},
		"a huge slice":                    {`{{ 'abc'[-(10**30):10**30:10**30] }}`, `a`},
		"a huge index":                    {`{{ [1][10**30] is defined }}`, `False`},
		"a huge repetition of nothing":    {`{{ ('' * 10**30)|length }}{{ ([] * 10**30)|length }}`, `00`},
	} {
		tm, err := Parse(tc.source)
		if err != nil {
			t.Fatal(err)
		}
		got, u, err := measure(tm, Vars{"deep": deep}, Limits{Steps: 500_000, Bytes: 32 << 20})
		var e *Error
		if errors.As(err, &e) {
			got = e.Kind
		}
		if got != tc.want || u.made > u.explained() {
			t.Errorf("%s = %q, %v, want %q; made %d bytes, explained are %d", name, got, err, tc.want, u.made, u.explained())
		}
	}
}

// TestHostileSourcesEnd bounds the memory that reading a template takes, whatever is in it.
func TestHostileSourcesEnd(t *testing.T) {
	for name, tc := range map[string]struct{ source, fails string }{
		"brackets":           {"{{ " + nest("(", "1", ")", 100_000) + " }}", "nested brackets"},
		"lists":              {"{{ " + nest("[", "1", "]", 100_000) + " }}", "nested brackets"},
		"minus":              {"{{ " + strings.Repeat("-", 90_000) + "1 }}", "nested parts"},
		"not":                {"{{ " + strings.Repeat("not ", 90_000) + "1 }}", "nested parts"},
		"if else":            {"{{ " + strings.Repeat("1 if 0 else ", 24_000) + "1 }}", "nested parts"},
		"long sum":           {"{{ 1" + strings.Repeat("+1", 49_000) + " }}", ""},
		"long attributes":    {"{{ x" + strings.Repeat(".a", 49_000) + " }}", ""},
		"long filters":       {"{{ x" + strings.Repeat("|e", 49_000) + " }}", ""},
		"blocks":             {nest("{% if 1 %}", "", "{% endif %}", 10_000), "nested parts"},
		"text in pieces":     {"{{ " + strings.Repeat("'aaaaaaa' ", 95_000) + "}}", ""},
		"a dotted name":      {"{{ x|a" + strings.Repeat(".a", 45_000) + " }}", "No filter named"},
		"a long name":        {"{{ " + strings.Repeat("a", 100_000) + " }}", "a name of 100000 bytes"},
		"a long number":      {"{{ " + strings.Repeat("1", 100_000) + " }}", "an integer of 100000 digits"},
		"a long fraction":    {"{{ 1." + strings.Repeat("1", 1_000_000) + " }}", ""},
		"named blocks":       {strings.ReplaceAll(list(12_000, "{%% block a%d %%}{%% endblock %%}"), ",", ""), ""},
		"empty outputs":      {strings.Repeat("{{}}", 260_000), "more than 100000"},
		"outputs":            {strings.Repeat("{{a}}", 60_000), "more than 100000"},
		"comments":           {strings.Repeat("{##}", 260_000), ""},
		"raw texts":          {strings.Repeat("{%raw%}{%endraw%}", 60_000), ""},
		"an open raw text":   {"{%raw%}" + strings.Repeat("{% ", 340_000), "Missing end of raw"},
		"branches":           {"{% if 0 %}" + strings.Repeat("{% elif 0 %}", 24_000) + "{% endif %}", ""},
		"a long list":        {"{{ [" + strings.Repeat("1,", 49_000) + "] }}", ""},
		"names of callers":   {strings.Repeat("{%macro m()%}", 90) + "{{ " + strings.Repeat("caller,", 45_000) + "1 }}" + strings.Repeat("{%endmacro%}", 90), ""},
		"line ends":          {strings.Repeat("\r", 1<<20), ""},
		"more than the most": {strings.Repeat("a", 1<<20+1), "more than 1048576"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(tc.source)
		runtime.ReadMemStats(&after)
		if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%s: Parse = %v, want %q", name, err, tc.fails)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 64<<20 {
			t.Errorf("%s: %d bytes of source made %d bytes of memory, want at most 64 MiB", name, len(tc.source), made)
		}
	}
}
