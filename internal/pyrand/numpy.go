package pyrand

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// NumPy is numpy.random's global generator (the legacy RandomState): a Mersenne Twister seeded by one 32-bit word, with
// the derived draws frozen in numpy/random/src/legacy. It is not safe for concurrent use.
type NumPy struct {
	mt *prng.MT19937
	// spare is the second normal of a pair, where held.
	spare float64
	held  bool
}

// NewNumPy is numpy.random.seed(seed).
func NewNumPy(seed uint32) *NumPy {
	mt := prng.NewMT19937()
	mt.Seed(uint64(seed))
	return &NumPy{mt: mt}
}

// Float64 is random_sample(): uniform in [0, 1), two raw draws.
func (r *NumPy) Float64() float64 { return float53(r.mt) }

// Integers is randint(low, high, size=n): n whole numbers in [low, high), by rejection under a bit mask. A range of one
// value draws nothing. high must be above low.
func (r *NumPy) Integers(low, high int64, n int) []int64 {
	out := make([]int64, n)
	span := uint64(high-1) - uint64(low)
	mask := uint64(1)<<bits.Len64(span) - 1
	for i := range out {
		out[i] = int64(uint64(low) + r.masked(span, mask))
	}
	return out
}

// masked draws a whole number in [0, span], from 32 raw bits where span fits in them and 64 where not.
func (r *NumPy) masked(span, mask uint64) uint64 {
	draw := func() uint64 { return uint64(r.mt.Uint32()) }
	if span == 0 {
		return 0
	}
	if span > math.MaxUint32 {
		draw = r.mt.Uint64
	}
	v := draw() & mask
	for v > span {
		v = draw() & mask
	}
	return v
}

// Exponential is exponential(scale): mean scale, two raw draws.
func (r *NumPy) Exponential(scale float64) float64 { return scale * r.exponential() }

func (r *NumPy) exponential() float64 { return -math.Log(1 - r.Float64()) }

// Normal is standard_normal() of the legacy generator: the polar method, which makes two and keeps one for the next call.
func (r *NumPy) Normal() float64 {
	if r.held {
		r.held = false
		return r.spare
	}
	for {
		x, y := 2*r.Float64()-1, 2*r.Float64()-1
		s := x*x + y*y
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(s) / s)
		r.spare, r.held = f*x, true
		return f * y
	}
}

// Gamma is gamma(shape, scale): mean shape·scale.
func (r *NumPy) Gamma(shape, scale float64) float64 {
	switch {
	case shape == 1:
		return scale * r.exponential()
	case shape < 1:
		return scale * r.gammaBelowOne(shape)
	}
	return scale * r.gammaAboveOne(shape)
}

// gammaBelowOne is Ahrens and Dieter's rejection for shapes under 1.
func (r *NumPy) gammaBelowOne(shape float64) float64 {
	if shape <= 0 {
		return 0
	}
	for {
		u, v := r.Float64(), r.exponential()
		if u <= 1-shape {
			if x := math.Pow(u, 1/shape); x <= v {
				return x
			}
			continue
		}
		y := -math.Log((1 - u) / shape)
		if x := math.Pow(1-shape+shape*y, 1/shape); x <= v+y {
			return x
		}
	}
}

// gammaAboveOne is Marsaglia and Tsang's rejection for shapes over 1.
func (r *NumPy) gammaAboveOne(shape float64) float64 {
	b := shape - 1.0/3
	c := 1 / math.Sqrt(9*b)
	for {
		x := r.Normal()
		v := 1 + c*x
		for v <= 0 {
			x = r.Normal()
			v = 1 + c*x
		}
		v = v * v * v
		u := r.Float64()
		if u < 1-0.0331*(x*x)*(x*x) || math.Log(u) < 0.5*x*x+b*(1-v+math.Log(v)) {
			return b * v
		}
	}
}

// Pixels fills dst with (random_sample()*255).astype(uint8).
func (r *NumPy) Pixels(dst []byte) {
	for i := range dst {
		dst[i] = byte(r.Float64() * 255)
	}
}

// Permutation is permutation(n): 0 to n−1 in a drawn order. Its first k are choice(n, size=k, replace=False).
func (r *NumPy) Permutation(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	for i := n - 1; i > 0; i-- {
		span := uint64(i)
		j := int(r.masked(span, uint64(1)<<bits.Len64(span)-1))
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// Choice is choice(len(p), p=p): an index drawn with the given probabilities, which must be at least one and sum to 1.
func (r *NumPy) Choice(p []float64) int { return searchCDF(p, r.Float64()) }

// searchCDF is the first index whose share of the cumulated probabilities exceeds u.
func searchCDF(p []float64, u float64) int {
	total := 0.0
	for _, x := range p {
		total += x
	}
	sum := 0.0
	for i, x := range p {
		sum += x
		if sum/total > u {
			return i
		}
	}
	return len(p) - 1
}
