package pyrand

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mathext/prng"
)

// Python is random.Random of CPython 3.12 (Lib/random.py, Modules/_randommodule.c): a Mersenne Twister keyed by the
// 32-bit words of the seed. It is not safe for concurrent use.
type Python struct{ mt *prng.MT19937 }

// NewPython is random.seed(seed). As there, a seed and its negative give the same stream.
func NewPython(seed int64) *Python {
	n := uint64(seed)
	if seed < 0 {
		n = -n
	}
	keys := []uint32{uint32(n)}
	if high := uint32(n >> 32); high != 0 {
		keys = append(keys, high)
	}
	mt := prng.NewMT19937()
	mt.SeedFromKeys(keys)
	return &Python{mt}
}

// Float64 is random.random(): uniform in [0, 1), two raw draws.
func (p *Python) Float64() float64 { return float53(p.mt) }

// Bits is random.getrandbits(k) for k from 0 to 64: one raw draw per begun 32 bits, the low word first.
func (p *Python) Bits(k int) uint64 {
	switch {
	case k <= 0:
		return 0
	case k <= 32:
		return uint64(p.mt.Uint32() >> (32 - k))
	}
	low := uint64(p.mt.Uint32())
	return low | uint64(p.mt.Uint32()>>(64-k))<<32
}

// Below is a whole number in [0, n): bits are drawn until they fall below n, so the number of raw draws varies. It is what
// random.choice, randrange and shuffle use. n must be positive.
func (p *Python) Below(n int) int {
	k := bits.Len(uint(n))
	r := p.Bits(k)
	for r >= uint64(n) {
		r = p.Bits(k)
	}
	return int(r)
}

// Between is random.randint(low, high), both ends included.
func (p *Python) Between(low, high int) int { return low + p.Below(high-low+1) }

// Shuffle is random.shuffle of n things, told which two to swap.
func (p *Python) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, p.Below(i+1))
	}
}

// Choices is random.choices(range(n), k=k): k indexes with replacement, two raw draws each.
func (p *Python) Choices(n, k int) []int {
	picks := make([]int, k)
	for i := range picks {
		picks[i] = int(math.Floor(p.Float64() * float64(n)))
	}
	return picks
}

// WeightedChoices is random.choices(range(len(weights)), weights, k=k).
func (p *Python) WeightedChoices(weights []float64, k int) []int {
	sums := make([]float64, len(weights))
	total := 0.0
	for i, w := range weights {
		total += w
		sums[i] = total
	}
	picks := make([]int, k)
	for i := range picks {
		x := p.Float64() * total
		// The first sum above x; the last index is never searched past.
		at, _ := slices.BinarySearchFunc(sums[:len(sums)-1], x, func(sum, x float64) int {
			if sum > x {
				return 1
			}
			return -1
		})
		picks[i] = at
	}
	return picks
}

// Sample is random.sample(range(n), k): k distinct indexes in the order drawn. k must not exceed n.
func (p *Python) Sample(n, k int) []int {
	picks := make([]int, k)
	// Python compares the memory of a list of n with that of a set of k; the choice decides how draws map to picks.
	setSize := 21.0
	if k > 5 {
		setSize += math.Pow(4, math.Ceil(math.Log(float64(k*3))/math.Log(4)))
	}
	if float64(n) <= setSize {
		pool := make([]int, n)
		for i := range pool {
			pool[i] = i
		}
		for i := range picks {
			j := p.Below(n - i)
			picks[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return picks
	}
	taken := make(map[int]bool, k)
	for i := range picks {
		j := p.Below(n)
		for taken[j] {
			j = p.Below(n)
		}
		taken[j] = true
		picks[i] = j
	}
	return picks
}
