package plan

import (
	"fmt"
	"math"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// adapters gives each request, or each conversation, its LoRA adapter. Where it draws it draws before the request's gap, as
// sglang.bench_serving does while it sends: evenly from Python's stream, by shares from NumPy's.
func adapters(l *bench.LoRA, rnd dataset.Streams) func(i int) string {
	switch {
	case l == nil:
		return func(int) string { return "" }
	case l.Mix == bench.LoRARoundRobin:
		return func(i int) string { return l.Names[i%len(l.Names)] }
	case l.Mix == bench.LoRASkewed:
		shares := make([]float64, len(l.Names))
		total := 0.0
		for i := range shares {
			shares[i] = math.Pow(l.Alpha, -float64(i))
			total += shares[i]
		}
		for i := range shares {
			shares[i] /= total
		}
		return func(int) string { return l.Names[rnd.NumPy.Choice(shares)] }
	}
	return func(int) string { return l.Names[rnd.Python.Below(len(l.Names))] }
}

func checkLoRA(l *bench.LoRA) []error {
	if l == nil {
		return nil
	}
	var faults []error
	if len(l.Names) == 0 {
		faults = append(faults, fmt.Errorf("adapters were asked for and none was named: give their names as the server knows them"))
	}
	for i, name := range l.Names {
		if name == "" {
			faults = append(faults, fmt.Errorf("the name of adapter %d is empty: give the name that the server knows it by", i+1))
		}
	}
	switch l.Mix {
	case bench.LoRAUniform, bench.LoRARoundRobin:
	case bench.LoRASkewed:
		if !(l.Alpha > 1) || math.IsInf(l.Alpha, 0) {
			faults = append(faults, fmt.Errorf("the adapters' skew is %v: give a number above 1, by which each is asked for more often than the next", l.Alpha))
		}
	default:
		faults = append(faults, fmt.Errorf("there is no mix of adapters %q: choose %s, %s or %s", l.Mix, bench.LoRAUniform, bench.LoRARoundRobin, bench.LoRASkewed))
	}
	return faults
}
