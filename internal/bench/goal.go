package bench

import (
	"encoding/json"
	"fmt"
)

// Comparison is how a goal compares a figure with its bound.
type Comparison string

// The comparisons.
const (
	AtLeast  Comparison = ">="
	AtMost   Comparison = "<="
	MoreThan Comparison = ">"
	LessThan Comparison = "<"
)

// Upper reports whether the bound is the largest value allowed, not the smallest.
func (c Comparison) Upper() bool { return c == AtMost || c == LessThan }

// Holds reports whether x compares with bound as asked.
func (c Comparison) Holds(x, bound float64) bool {
	switch c {
	case AtMost:
		return x <= bound
	case LessThan:
		return x < bound
	case MoreThan:
		return x > bound
	}
	return x >= bound
}

// Goal is what a figure of the run must keep to.
type Goal struct {
	// Name is how the goal is printed.
	Name string `json:"name"`
	// Metric names a figure ("output_throughput", "single_stream") or a distribution ("ttft").
	Metric string `json:"metric"`
	// Statistic is "mean", "min", "max" or a percentile ("p99") of a distribution, "" for a figure.
	Statistic string     `json:"statistic,omitempty"`
	Op        Comparison `json:"op"`
	// Bound is in the figure's own unit: seconds, tokens per second, a share.
	Bound float64 `json:"bound"`
	// Unit is how Bound is printed: "tok/s", "ms", "%", "".
	Unit string `json:"unit,omitempty"`
}

// UnmarshalJSON reads a goal, also in the older form that knew lower bounds only ("at_least").
func (g *Goal) UnmarshalJSON(b []byte) error {
	type plain Goal
	in := struct {
		*plain
		AtLeast *float64 `json:"at_least"`
	}{plain: (*plain)(g)}
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("goal: %w", err)
	}
	if in.AtLeast != nil {
		g.Op, g.Bound = AtLeast, *in.AtLeast
	}
	return nil
}

// GoalResult is a goal with what was reached.
type GoalResult struct {
	Goal  Goal    `json:"goal"`
	Value Measure `json:"value"`
	// Low and High bound the value's 95 % interval; an end is not measured where the run is too small to bound it.
	Low  Measure `json:"low"`
	High Measure `json:"high"`
	Met  bool    `json:"met"`
}

// Margin is how far inside the bound the value lies, as a share of the bound; negative where it is outside.
func (r *GoalResult) Margin() Measure {
	x, ok := r.Value.Get()
	if !ok || r.Goal.Bound == 0 {
		return Measure{}
	}
	m := x/r.Goal.Bound - 1
	if r.Goal.Op.Upper() {
		m = -m
	}
	return Measured(m)
}

// Sure reports whether the whole 95 % interval is on the same side of the bound as the value.
func (r *GoalResult) Sure() bool {
	end := r.Low
	if r.Goal.Op.Upper() == r.Met {
		end = r.High
	}
	x, ok := end.Get()
	return ok && r.Goal.Op.Holds(x, r.Goal.Bound) == r.Met
}
