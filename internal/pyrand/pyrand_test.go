package pyrand

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reference is testdata/reference.json: for each generator one object of named draws a seed, taken in the order in which
// reference.py names them, from one stream.
type reference struct {
	Python, NumPy, Generator []map[string]json.RawMessage
}

func load(t *testing.T) reference {
	t.Helper()
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// draws compares what is drawn with the named reference, exactly for whole numbers and to 1e-14 for floats.
type draws struct {
	t    *testing.T
	seed string
	want map[string]json.RawMessage
}

func decode[T any](d draws, name string) T {
	d.t.Helper()
	raw, ok := d.want[name]
	if !ok {
		d.t.Fatalf("reference of seed %s has no %q", d.seed, name)
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		d.t.Fatalf("reference %q: %v", name, err)
	}
	return v
}

func (d draws) floats(name string, n int, draw func() float64) {
	d.t.Helper()
	want := decode[[]float64](d, name)
	if len(want) != n {
		d.t.Fatalf("%s: reference has %d draws, want %d", name, len(want), n)
	}
	for i, w := range want {
		if got := draw(); math.Abs(got-w) > 1e-14*math.Abs(w) {
			d.t.Errorf("seed %s: %s draw %d = %v, want %v", d.seed, name, i, got, w)
		}
	}
}

func (d draws) after(draw func() float64) {
	d.t.Helper()
	if got, want := draw(), decode[float64](d, "random_after"); got != want {
		d.t.Errorf("seed %s: the stream stands at %v afterwards, want %v", d.seed, got, want)
	}
}

func same[T any](d draws, name string, got []T) {
	d.t.Helper()
	if diff := cmp.Diff(decode[[]T](d, name), got); diff != "" {
		d.t.Errorf("seed %s: %s (-want +got):\n%s", d.seed, name, diff)
	}
}

func times[T any](n int, draw func() T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = draw()
	}
	return out
}

// filled is n bytes drawn, as numbers.
func filled(n int, fill func([]byte)) []int {
	b := make([]byte, n)
	fill(b)
	out := make([]int, n)
	for i, v := range b {
		out[i] = int(v)
	}
	return out
}

func TestPythonDrawsAsCPython(t *testing.T) {
	for _, want := range load(t).Python {
		seed, err := strconv.ParseInt(string(want["seed"]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		p, d := NewPython(seed), draws{t, string(want["seed"]), want}
		d.floats("random", 3, p.Float64)
		var words []string
		for _, k := range []int{1, 7, 31, 32, 33, 53, 64} {
			words = append(words, strconv.FormatUint(p.Bits(k), 10))
		}
		same(d, "getrandbits", words)
		same(d, "randint", times(5, func() int { return p.Between(-3, 12) }))
		same(d, "choice", times(5, func() int { return p.Below(1000) }))
		deck := make([]int, 20)
		for i := range deck {
			deck[i] = i
		}
		p.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		same(d, "shuffle", deck)
		same(d, "choices", p.Choices(50257, 8))
		same(d, "weighted", p.WeightedChoices([]float64{0.5, 0.25, 0.125, 3}, 8))
		same(d, "sample_pool", p.Sample(30, 12))
		same(d, "sample_set", p.Sample(1e6, 12))
		d.after(p.Float64)
	}
}

func TestNumPyDrawsAsTheLegacyGenerator(t *testing.T) {
	for _, want := range load(t).NumPy {
		seed, err := strconv.ParseUint(string(want["seed"]), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		r, d := NewNumPy(uint32(seed)), draws{t, string(want["seed"]), want}
		d.floats("random", 3, r.Float64)
		same(d, "randint_small", r.Integers(1, 65, 8))
		same(d, "randint_one", r.Integers(7, 8, 3))
		same(d, "randint_word", r.Integers(0, 1<<32, 3))
		same(d, "randint_wide", r.Integers(-5, 1<<40, 4))
		d.floats("exponential", 5, func() float64 { return r.Exponential(0.1) })
		d.floats("normal", 5, r.Normal)
		d.floats("gamma_half", 6, func() float64 { return r.Gamma(0.5, 0.2) })
		d.floats("gamma_one", 6, func() float64 { return r.Gamma(1, 0.2) })
		d.floats("gamma_three", 6, func() float64 { return r.Gamma(3, 0.2) })
		same(d, "choice", times(8, func() int { return r.Choice([]float64{0.5, 0.25, 0.15, 0.1}) }))
		same(d, "permutation", r.Permutation(37))
		same(d, "without_replacement", r.Permutation(100)[:9])
		same(d, "pixels", filled(15, r.Pixels))
		d.after(r.Float64)
	}
}

func TestGeneratorDrawsAsDefaultRNG(t *testing.T) {
	for _, want := range load(t).Generator {
		seed, err := strconv.ParseUint(string(want["seed"]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		d := draws{t, string(want["seed"]), want}
		raw := NewGenerator(seed)
		same(d, "raw", times(4, func() string { return strconv.FormatUint(raw.Uint64(), 10) }))
		g := NewGenerator(seed)
		d.floats("random", 3, g.Float64)
		same(d, "integers_small", g.Integers(3, 68, 9))
		same(d, "integers_one", times(3, func() int64 { return g.Integers(0, 50257, 1)[0] }))
		same(d, "integers_list", g.Integers(0, 1000, 5))
		same(d, "integers_wide", g.Integers(-5, 1<<40, 4))
		same(d, "choice", times(8, func() int { return g.Choice([]float64{0.4, 0.3, 0.15, 0.1, 0.05}) }))
		same(d, "bytes_odd", filled(7, g.Bytes))
		same(d, "bytes", filled(18, g.Bytes))
		d.after(g.Float64)
	}
}

func BenchmarkPythonShuffle100k(b *testing.B) {
	p := NewPython(42)
	deck := make([]int, 100_000)
	for b.Loop() {
		p.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	}
}
