package tokenizer

import (
	"math/bits"
	"unicode/utf8"
)

// Most words of most texts are ASCII letters. These find the end of such a run eight bytes at a time, without a
// branch for each byte.

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// within marks, by their highest bits, the bytes of x that are ASCII and from lo to hi.
func within(x uint64, lo, hi byte) uint64 {
	low := x &^ highBits
	atLeast := low + uint64(0x80-lo)*everyByte
	above := low + uint64(0x7F-hi)*everyByte
	return atLeast &^ above &^ x & highBits
}

// lowerRun returns the end of the run of a … z that begins at i.
func lowerRun(s string, i int) int {
	for i+8 <= len(s) {
		if out := within(load8(s[i:]), 'a', 'z') ^ highBits; out != 0 {
			return i + bits.TrailingZeros64(out)/8
		}
		i += 8
	}
	for i < len(s) && 'a' <= s[i] && s[i] <= 'z' {
		i++
	}
	return i
}

// letterRun returns the end of the run of a … z and A … Z that begins at i.
func letterRun(s string, i int) int {
	for i+8 <= len(s) {
		if out := within(load8(s[i:])|0x20*everyByte, 'a', 'z') ^ highBits; out != 0 {
			return i + bits.TrailingZeros64(out)/8
		}
		i += 8
	}
	for i < len(s) && 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z' {
		i++
	}
	return i
}

// letters is run for a set that holds every letter.
func letters(s string, i int, set charClass) int {
	i = letterRun(s, i)
	if i == len(s) || s[i] < utf8.RuneSelf {
		return i
	}
	return run(s, i, set)
}

// isASCIIOther reports whether c is ASCII and no letter.
func isASCIIOther(c byte) bool { return c < utf8.RuneSelf && asciiClass[c]&anyLetter == 0 }
