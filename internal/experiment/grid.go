package experiment

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Axis is one flag and the values it takes.
type Axis struct {
	Flag   string   `json:"flag"`
	Values []string `json:"values"`
}

// Setting is one flag with the value it has at a point.
type Setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
}

// Point is one trial of a sweep. Index counts from 0 in the order of the grid, the last axis fastest.
type Point struct {
	Index    int       `json:"index"`
	Settings []Setting `json:"settings"`
}

// Name writes a point's settings: "concurrency 8, input-tokens 256".
func (p Point) Name() string {
	parts := make([]string, len(p.Settings))
	for i, s := range p.Settings {
		parts[i] = s.Flag + " " + s.Value
	}
	return strings.Join(parts, ", ")
}

// Value returns what a flag is set to at the point.
func (p Point) Value(flag string) (string, bool) {
	for _, s := range p.Settings {
		if s.Flag == flag {
			return s.Value, true
		}
	}
	return "", false
}

// Grid returns every combination of the axes' values.
func Grid(axes []Axis) []Point {
	points := []Point{{}}
	for _, a := range axes {
		var next []Point
		for _, p := range points {
			for _, v := range a.Values {
				settings := append(append([]Setting{}, p.Settings...), Setting{a.Flag, v})
				next = append(next, Point{Settings: settings})
			}
		}
		points = next
	}
	for i := range points {
		points[i].Index = i
	}
	return points
}

// mostValues bounds an axis, so that a slip in a range is no sweep of a year.
const mostValues = 1000

// ParseAxis reads "FLAG=LIST". A list has values and ranges of numbers: 1,2,4 or 1..128 (doubling), 1..10+1 (in steps of 1),
// 1..100*3 (each three times the one before). A range always ends with its last value.
func ParseAxis(s string) (Axis, error) {
	flag, list, ok := strings.Cut(s, "=")
	flag = strings.TrimLeft(strings.TrimSpace(flag), "-")
	if !ok || flag == "" || strings.TrimSpace(list) == "" {
		return Axis{}, fmt.Errorf("%q is not FLAG=VALUES; write it as concurrency=1,2,4 or concurrency=1..128", s)
	}
	a := Axis{Flag: flag}
	seen := map[string]bool{}
	for _, part := range strings.Split(list, ",") {
		values, err := expand(strings.TrimSpace(part))
		if err != nil {
			return Axis{}, fmt.Errorf("%q: %w", s, err)
		}
		for _, v := range values {
			if seen[v] {
				return Axis{}, fmt.Errorf("%q: %s is there twice", s, v)
			}
			seen[v] = true
			a.Values = append(a.Values, v)
		}
	}
	return a, nil
}

// expand returns the values of one part of a list.
func expand(part string) ([]string, error) {
	if part == "" {
		return nil, errors.New("a value is empty")
	}
	from, rest, ok := strings.Cut(part, "..")
	if !ok {
		return []string{part}, nil
	}
	to, step, factor := rest, 0.0, 2.0
	var err error
	if i := strings.IndexAny(rest, "+*"); i >= 0 {
		to = rest[:i]
		x, bad := strconv.ParseFloat(rest[i+1:], 64)
		if err = bad; rest[i] == '+' {
			step = x
		} else {
			factor = x
		}
	}
	low, bad1 := strconv.ParseFloat(from, 64)
	high, bad2 := strconv.ParseFloat(to, 64)
	if errors.Join(err, bad1, bad2) != nil || !(low < high) || math.IsInf(high, 0) || math.IsInf(low, 0) {
		return nil, fmt.Errorf("%q is no range of numbers; write 1..128, 1..10+1 or 1..100*3", part)
	}
	if step < 0 || step == 0 && !(factor > 1 && low > 0) {
		return nil, fmt.Errorf("%q never gets to its end", part)
	}
	var out []string
	for x, i := low, 1; x < high*(1-1e-12); i++ {
		if len(out) == mostValues {
			return nil, fmt.Errorf("%q has more than %d values", part, mostValues)
		}
		out = append(out, number(x))
		if x = low + float64(i)*step; step == 0 {
			x = low * math.Pow(factor, float64(i))
		}
	}
	return append(out, number(high)), nil
}

// number writes a number without the dust of binary fractions.
func number(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64)
}
