package tokenizer

import (
	"math"
	"strconv"
)

// parseScore reads a number as the reference library's JSON reader does: the digits that fit 64 bits, scaled once by
// a power of ten. That is up to one unit in the last place off the nearest float, and ties between equal paths are
// decided by that unit.
func parseScore(b []byte) (float64, bool) {
	i, negative := 0, false
	if i < len(b) && b[i] == '-' {
		negative = true
		i++
	}
	var digits uint64
	exp, seen, full, point := 0, false, false, false
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point && seen {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		d := uint64(c - '0')
		full = full || digits > (math.MaxUint64-d)/10
		switch {
		case full && !point:
			exp++
		case !full:
			digits = digits*10 + d
			if point {
				exp--
			}
		}
	}
	if !seen {
		return 0, false
	}
	if i < len(b) {
		if b[i]|0x20 != 'e' {
			return 0, false
		}
		e, err := strconv.Atoi(string(b[i+1:]))
		if err != nil || e > 1<<20 || e < -1<<20 {
			return 0, false
		}
		exp += e
	}
	f, ok := scale(float64(digits), exp)
	if negative {
		f = -f
	}
	return f, ok
}

func scale(f float64, exp int) (float64, bool) {
	for exp < -308 && f != 0 {
		f /= 1e308
		exp += 308
	}
	switch {
	case f == 0:
		return f, true
	case exp > 308:
		return f, false
	case exp >= 0:
		f *= math.Pow10(exp)
	default:
		f /= math.Pow10(-exp)
	}
	return f, !math.IsInf(f, 0)
}
