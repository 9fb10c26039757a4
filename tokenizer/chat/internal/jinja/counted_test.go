package jinja

import (
	"context"
	"math/big"
	"runtime"
	"strings"
	"testing"
)

// usage is what one rendering took, by its own counters and by the Go heap.
type usage struct {
	steps int
	bytes int64
	made  int64 // bytes allocated, freed ones too
}

// measure renders a parsed template and gives what that took.
func measure(t *Template, vars Vars, limits Limits) (text string, u usage, err error) {
	r := newRun(context.Background(), limits, 0)
	steps, bytes := r.steps, r.bytes
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err = t.render(r, vars, noon)
	runtime.ReadMemStats(&after)
	return text, usage{steps - r.steps, bytes - r.bytes, int64(after.TotalAlloc - before.TotalAlloc)}, err
}

// explained is the memory that the counters stand for: texts and lists grow by doubling, and a step may
// make a value, a message or the names of a block.
func (u usage) explained() int64 { return 4*u.bytes + 128*int64(u.steps) + 256<<10 }

// sized gives variables whose size is n: texts, lists and dicts of n parts.
func sized(n int) Vars {
	texts, ints, tuples, dicts := NewList(), NewList(), &List{Tuple: true}, NewList()
	names, same := NewDict(), NewDict()
	for i := range n {
		name := "k" + intText(int64(i))
		texts.Items = append(texts.Items, name)
		ints.Items = append(ints.Items, int64(i))
		tuples.Items = append(tuples.Items, int64(i))
		d := NewDict()
		d.Set("a", name)
		dicts.Items = append(dicts.Items, d)
		names.Set(name, int64(i))
		same.Set(name, int64(i))
	}
	other := &List{Items: append(append([]Value{}, ints.Items[:n-1]...), int64(-1))}
	return Vars{
		"s": strings.Repeat("a", n), "s2": strings.Repeat("a", n-1) + "b", "u": strings.Repeat("é", n), "blank": strings.Repeat(" ", n),
		"digits": strings.Repeat("0", n), "words": strings.Repeat("a ", n/2), "lines": strings.Repeat("a\n", n/2), "signs": strings.Repeat("<\x01", n/2),
		"l": texts, "i": ints, "i2": other, "t": tuples, "ds": dicts, "d": names, "d2": same, "n": int64(n),
		"huge": new(big.Int).Lsh(big.NewInt(1), uint(n)),
	}
}

// walks are expressions over sized variables, by how many of the n parts must count as a step at least: each item
// of a list, each 16th byte of a text that is read rune by rune, each 256th that is compared or copied, each
// 1024th bit of an integer. They are joined by semicolons and line ends.
func walks() map[int]string {
	return map[int]string{
		1: `l|list;l|join;l|join('-');i|sum;l|map('upper')|list;l|select|list;l|reject|list;l|select('string')|list
ds|map(attribute='a')|list;ds|selectattr('a')|list;ds|rejectattr('a','eq','x')|list;l|sort;i|sort(reverse=true)
ds|sort(attribute='a');l|unique|list;l|min;i|max;ds|groupby('a');d|dictsort;d|items|list;d.values()|list;d.keys()|list
d|list;d.copy();dict(d);dict(d, a=1);namespace(d)|string;l|batch(7)|list;l|slice(3)|list;s|list;l|reverse|list
s|reverse;l|tojson;d|tojson;d|tojson(sort_keys=true);i|tojson(indent=1);l|string;d|string;t|string;d|urlencode;'x' in l
-1 in i;-1 in t;i == i2;i < i2;i2 < i;i != i2;d == d2;i.count(-1);i.index(n-1);l.count('x');t == t[:];{t: 1};t in d
{(t, t): 1};d.get(t);'{}'.format(l);'%s' % [l];l ~ '';l|map('length')|list;cycler(*l).current;dict(**d);'-'.join(l)
l|random;range(n)|list;range(n)[2:];1.5 in range(n);u|list;lines|indent;l is in [l|list];l is eq (l|list)
[[i], [i2]]|sort;[t]|unique|list;ds|map('string')|list;[i]|map('sum')|list;signs|tojson;s.rstrip(l|join)
s.replace('a','b');s|replace('a','');s|replace('','x');s|string|list;strftime_now('%Y' * n);('%d' * n) % t
('{}' * n).format(*t);[1]|slice(n)|list;[{'a': t}, {'a': t[:]}]|groupby('a')`,
		16: `[s]|tojson;[s]|string;d.items();l.copy();l + l;l * 2;l[1:];l[::-1];words.split();words.split(' ');words.rsplit(' ');words.rsplit()
lines.splitlines();lines.split('\n', n);signs|e;signs|string;[signs]|string;s|upper;u|upper;s|title;s.title()
s.swapcase();u|lower;u|capitalize;s|trim;blank.strip();blank.lstrip();s.strip(s2);words|wordcount;signs|striptags
s|urlencode;s|float;digits|int;digits|float;s.isalpha();s.isupper();s.istitle();s.isidentifier();s is lower;s is upper
s.find('b');s.rfind('b');s.count('a');s.count('aa', 1);s.startswith(s2);s.endswith('b');s.startswith((s2, s2))
s.partition('b');s.split('b');s.split('b', 1);s|length;u|length;u[5];u[1:];u[::2];s[::2];s2 in s;[s]|unique|list
[s2, s]|sort;[s2, s]|min;s % ();s.format();s|format;s.ljust(n * 2);s.center(n * 2);s|center(n * 2);s.zfill(n * 2)
words.expandtabs();s.removeprefix('b');s|truncate(n // 2);s|indent(2, true);s|safe;s|e;s|tojson;strftime_now(s)
[1]|batch(n, 0)|list;[1] * n;huge * huge;huge % (huge - 1);s|attr(s);s is filter`,
		256: `d[s];s ~ s;s + s;s * 2;'%s%s' % (s, s);'{0}{0}'.format(s);'%d' * n;'%*d' % (n, 1);'%.*f' % (n, 1)
('{:' ~ n ~ '}').format(1);('{:.' ~ n ~ 'f}').format(1.0);[1]|tojson(indent=n);'a'|indent(n, true);{huge: 1}
'%x' % huge;s == s2;s < s2;s in d;{s: 1};d.get(s);'%s' % s;'{:>9}'.format(s);'a' * n;d|attr(s)`,
		1024: `huge * huge;huge + 1;huge // 3;2 ** n;huge == huge + 1`,
	}
}

// TestEveryWalkIsCounted states that no operation goes over a value for nothing: what it counts grows with the
// value, and explains the memory that it made.
func TestEveryWalkIsCounted(t *testing.T) {
	const few, many = 1000, 17_000
	small, large := sized(few), sized(many)
	for per, sources := range walks() {
		for source := range strings.FieldsFuncSeq(sources, func(c rune) bool { return c == ';' || c == '\n' }) {
			tm, err := Parse("{% set x = " + source + " %}")
			if err != nil {
				t.Fatal(err)
			}
			limits := Limits{Steps: 1 << 40, Bytes: 1 << 40}
			_, a, errA := measure(tm, small, limits)
			_, b, errB := measure(tm, large, limits)
			if errA != nil || errB != nil {
				t.Errorf("%s: %v, %v, want no error", source, errA, errB)
			}
			if got, want := b.steps-a.steps, (many-few)/per-2; got < want {
				t.Errorf("%s: %d parts more count as %d steps, want at least %d", source, many-few, got, want)
			}
			if b.made > b.explained() {
				t.Errorf("%s: made %d bytes of memory, its %d steps and %d bytes explain %d", source, b.made, b.steps, b.bytes, b.explained())
			}
		}
	}
}
