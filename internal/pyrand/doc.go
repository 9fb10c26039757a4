// Package pyrand draws the numbers that CPython's random module and NumPy draw from the same seed, so that a run planned
// here asks the same questions in the same order as one planned in Python. Each type reproduces one generator with the
// derived draws the benchmark tools use: the order and number of raw draws behind each of them is the contract, not only their
// distribution. Reference values from CPython 3.12 and NumPy 2.4 are in testdata.
package pyrand

import "gonum.org/v1/gonum/mathext/prng"

// float53 is the uniform in [0, 1) that both libraries build from two 32-bit draws: 27 and 26 high bits.
func float53(mt *prng.MT19937) float64 {
	a, b := mt.Uint32()>>5, mt.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}
