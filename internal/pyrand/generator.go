package pyrand

import (
	"math"
	"math/bits"
)

// Generator is numpy.random.default_rng: PCG64 (XSL-RR output, 128-bit state) seeded through SeedSequence. It is not safe for
// concurrent use.
type Generator struct {
	high, low       uint64 // the state
	incHigh, incLow uint64
	// half is the upper part of a 64-bit draw whose lower part went to a 32-bit one, where held.
	half uint32
	held bool
}

// The multiplier of PCG's 128-bit step.
const (
	pcgHigh = 0x2360ed051fc65da4
	pcgLow  = 0x4385df649fccf645
)

// NewGenerator is default_rng(seed).
func NewGenerator(seed uint64) *Generator {
	s := seedSequence(seed)
	g := &Generator{incHigh: s[2]<<1 | s[3]>>63, incLow: s[3]<<1 | 1}
	g.step()
	var carry uint64
	g.low, carry = bits.Add64(g.low, s[1], 0)
	g.high, _ = bits.Add64(g.high, s[0], carry)
	g.step()
	return g
}

// seedSequence is SeedSequence(seed).generate_state(4, uint64) (numpy/random/bit_generator.pyx; the hash is Melissa
// O'Neill's seed_seq_fe).
func seedSequence(seed uint64) [4]uint64 {
	const (
		multA, multB = 0x931e8875, 0x58f38ded
		mixL, mixR   = 0xca01f9dd, 0x4973f715
	)
	hash := uint32(0x43b0d7e5)
	mixIn := func(v uint32) uint32 {
		v ^= hash
		hash *= multA
		v *= hash
		return v ^ v>>16
	}
	pool := [4]uint32{uint32(seed), uint32(seed >> 32)}
	for i := range pool {
		pool[i] = mixIn(pool[i])
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				v := mixL*pool[to] - mixR*mixIn(pool[from])
				pool[to] = v ^ v>>16
			}
		}
	}
	hash = 0x8b51f9dd
	var words [8]uint32
	for i := range words {
		v := pool[i%len(pool)] ^ hash
		hash *= multB
		v *= hash
		words[i] = v ^ v>>16
	}
	var out [4]uint64
	for i := range out {
		out[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	return out
}

func (g *Generator) step() {
	high, low := bits.Mul64(g.low, pcgLow)
	high += g.high*pcgLow + g.low*pcgHigh
	var carry uint64
	g.low, carry = bits.Add64(low, g.incLow, 0)
	g.high, _ = bits.Add64(high, g.incHigh, carry)
}

// Uint64 is one raw draw.
func (g *Generator) Uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.high^g.low, -int(g.high>>58))
}

// uint32 gives out the two halves of a raw draw one after the other, the low one first.
func (g *Generator) uint32() uint32 {
	if g.held {
		g.held = false
		return g.half
	}
	v := g.Uint64()
	g.half, g.held = uint32(v>>32), true
	return uint32(v)
}

// Float64 is random(): uniform in [0, 1), one raw draw.
func (g *Generator) Float64() float64 { return float64(g.Uint64()>>11) / (1 << 53) }

// Integers is integers(low, high, size=n): n whole numbers in [low, high), by Lemire's multiplication. A range of one value
// draws nothing. high must be above low.
func (g *Generator) Integers(low, high int64, n int) []int64 {
	out := make([]int64, n)
	span := uint64(high-1) - uint64(low)
	for i := range out {
		out[i] = int64(uint64(low) + g.upTo(span))
	}
	return out
}

// upTo draws a whole number in [0, span].
func (g *Generator) upTo(span uint64) uint64 {
	switch {
	case span == 0:
		return 0
	case span == math.MaxUint32:
		return uint64(g.uint32())
	case span < math.MaxUint32:
		return uint64(g.upTo32(uint32(span)))
	case span == math.MaxUint64:
		return g.Uint64()
	}
	n := span + 1
	high, low := bits.Mul64(g.Uint64(), n)
	if low < n {
		for floor := (math.MaxUint64 - span) % n; low < floor; {
			high, low = bits.Mul64(g.Uint64(), n)
		}
	}
	return high
}

func (g *Generator) upTo32(span uint32) uint32 {
	n := span + 1
	m := uint64(g.uint32()) * uint64(n)
	if uint32(m) < n {
		for floor := (math.MaxUint32 - span) % n; uint32(m) < floor; {
			m = uint64(g.uint32()) * uint64(n)
		}
	}
	return uint32(m >> 32)
}

// Bytes fills dst with integers(0, 256, dtype=uint8): four to a 32-bit draw, the lowest first. What is left of the last one is
// thrown away.
func (g *Generator) Bytes(dst []byte) {
	var v uint32
	for i := range dst {
		if v >>= 8; i%4 == 0 {
			v = g.uint32()
		}
		dst[i] = byte(v)
	}
}

// Choice is choice(len(p), p=p): an index drawn with the given probabilities, which must be at least one and sum to 1.
func (g *Generator) Choice(p []float64) int { return searchCDF(p, g.Float64()) }
