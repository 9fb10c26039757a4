package cli

import (
	"fmt"
	"math"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// least reads a whole number with a lower bound.
func (v *vllmReader) least(name string, least int) int {
	n, _ := v.whole(name)
	if n < least {
		v.wrong(name, fmt.Sprintf("%d is out of range: at least %d", n, least), "")
	}
	return n
}

// load reads when to ask.
func (v *vllmReader) load() {
	spec := &v.job.spec
	l := &spec.Load
	if v.typed("request-rate") {
		rate, err := parseRate(v.text("request-rate"))
		if err != nil {
			v.wrong("request-rate", err.Error(), "inf or -1 means unlimited")
		}
		l.Rate = rate
	}
	switch b := v.number("burstiness"); {
	case math.IsInf(b, 1):
		l.Arrival = bench.ArrivalConstant
	case !(b > 0):
		v.wrong("burstiness", fmt.Sprintf("%v is out of range: above 0", b), "1 is Poisson's process, inf equal gaps")
	case b != 1:
		l.Arrival, l.Burstiness = bench.ArrivalGamma, b
	}
	v.rampUp(l)
	if !l.Scheduled() {
		l.Arrival, l.Burstiness = bench.ArrivalPoisson, 0
	}
	if n, ok := v.whole("max-concurrency"); ok {
		if n < 1 {
			v.wrong("max-concurrency", fmt.Sprintf("%d is out of range: at least 1", n), "leave the flag out for no cap")
		}
		l.Concurrency = max(n, 0)
	}
	v.deadlines(l)
	l.Insecure = v.on("insecure")
	seed, _ := v.whole("seed")
	if seed < 0 || seed > math.MaxUint32 {
		v.wrong("seed", fmt.Sprintf("%d is out of range: 0 to %d", seed, uint32(math.MaxUint32)), "")
	}
	spec.Seed = int64(seed)
	spec.Warmup = v.least("num-warmups", 0)
	spec.SLOs = parseSLOs(v.list("goodput"))
	spec.Goals = v.goals()
	spec.MaxErrorRate = v.share("max-error-rate")
	v.job.flush, v.job.flushTimeout = v.on("reset-prefix-cache"), time.Minute
	v.job.runs = v.least("num-runs", 1)
	if v.on("profile") {
		v.job.profile = &profiling{}
	}
}

// rampUp reads the rate's way from one end to the other.
func (v *vllmReader) rampUp(l *bench.LoadSpec) {
	if !v.typed("ramp-up-strategy") {
		return
	}
	if l.Rate > 0 {
		v.wrong("request-rate", "cannot be combined with --ramp-up-strategy, which says the rate", "leave it out")
		l.Rate = 0
	}
	start, ok := v.whole("ramp-up-start-rps")
	end, too := v.whole("ramp-up-end-rps")
	switch {
	case !ok || !too:
		v.wrong("ramp-up-strategy", "needs both ends of the ramp", "give --ramp-up-start-rps and --ramp-up-end-rps")
		return
	case start < 1:
		v.wrong("ramp-up-start-rps", fmt.Sprintf("%d is out of range: at least 1 (from 0 the first request would never be due)", start), "")
	case end < start:
		v.wrong("ramp-up-end-rps", fmt.Sprintf("%d is below the start of %d", end, start), "")
	}
	l.RampUp = &bench.RampUp{Exponential: v.text("ramp-up-strategy") == "exponential", Start: float64(max(start, 1)), End: float64(max(end, start, 1))}
}
