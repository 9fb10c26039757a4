package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// arrivals reads how requests are spread over time in `run`. A flag without effect is a fault.
func (r *runReader) arrivals(l *bench.LoadSpec) {
	for _, pair := range [][2]string{{"rate", "ramp"}, {"rate", "stages"}, {"ramp", "stages"}, {"duration", "stages"}, {"requests", "stages"}, {"duration", "ramp"}} {
		if r.typed(pair[0]) && r.typed(pair[1]) {
			r.wrong(pair[1], "cannot stand beside --"+pair[0], "give one of the two")
		}
	}
	r.ramp(l)
	r.stages(l)
	switch r.text("arrival") {
	case "gamma":
		l.Arrival, l.Burstiness = bench.ArrivalGamma, r.number("burstiness")
		if !r.typed("burstiness") {
			r.wrong("arrival", "gamma needs --burstiness", "1 is Poisson's process, under 1 is burstier, over 1 more even")
		}
	case "constant":
		l.Arrival = bench.ArrivalConstant
	}
	if r.typed("burstiness") && r.text("arrival") != "gamma" {
		r.wrong("burstiness", "has no effect without --arrival gamma", "leave it out")
	}
	if r.typed("arrival") && (len(l.Stages) > 0 || l.Rate == 0 && l.RampUp == nil) {
		r.wrong("arrival", "has no effect without a finite --rate or a --ramp", "leave it out")
	}
}

// ramp reads FROM TO [linear|exponential].
func (r *runReader) ramp(l *bench.LoadSpec) {
	words := r.list("ramp")
	if len(words) == 0 {
		return
	}
	shape := "linear"
	if len(words) == 3 {
		shape = words[2]
	}
	if len(words) < 2 || len(words) > 3 || !slices.Contains([]string{"linear", "exponential"}, shape) {
		r.wrong("ramp", fmt.Sprintf("%q is not FROM TO [linear|exponential]", strings.Join(words, " ")), "write it as --ramp 2 50")
		return
	}
	from, err := parseRate(words[0])
	to, err2 := parseRate(words[1])
	if err != nil || err2 != nil || from == 0 || to == 0 {
		r.wrong("ramp", fmt.Sprintf("%q are not two finite rates above 0", strings.Join(words[:2], " ")), "write it as --ramp 2 50")
		return
	}
	l.RampUp = &bench.RampUp{Exponential: shape == "exponential", Start: from, End: to}
}

// stages reads RATExTIME words; together they are the run's duration.
func (r *runReader) stages(l *bench.LoadSpec) {
	for _, word := range r.list("stages") {
		rate, length, ok := strings.Cut(word, "x")
		v, err := parseRate(rate)
		d, err2 := parseDuration(length)
		if !ok || err != nil || err2 != nil || v == 0 || d <= 0 {
			r.wrong("stages", fmt.Sprintf("%q is not RATExTIME", word), "write it as --stages 10x30s 50x1m")
			continue
		}
		l.Stages = append(l.Stages, bench.Stage{Rate: v, For: d})
	}
	_, l.Duration = l.Expected()
}
