// Package plan decides what is asked when: it joins the requests of a data set with an arrival process into a bench.Plan.
// Everything random comes from two generators seeded once, first the data set's draws and then the gaps, so that the
// same Spec, data and seed give the same plan to the byte, and the same as sglang.bench_serving's.
package plan

import (
	"errors"
	"fmt"
	"math"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// Inputs is what a plan is made of beside the Spec; see dataset.Inputs.
type Inputs = dataset.Inputs

// Check reports every fault that the Spec alone shows, without opening anything.
func Check(spec bench.Spec) []error {
	return append(append(dataset.CheckSpec(&spec), checkLoad(spec.Load)...), checkLoRA(spec.LoRA)...)
}

func checkLoad(l bench.LoadSpec) []error {
	var faults []error
	if !finite(l.Rate) || l.Rate < 0 {
		faults = append(faults, fmt.Errorf("the request rate is %v: give requests per second above 0, or none for no limit", l.Rate))
	}
	if l.Arrival == bench.ArrivalGamma && !(finite(l.Burstiness) && l.Burstiness > 0) {
		faults = append(faults, fmt.Errorf("the burstiness is %v: give a number above 0; under 1 is burstier than Poisson's process, over 1 more even", l.Burstiness))
	}
	if r := l.RampUp; r != nil && !(finite(r.Start) && finite(r.End) && r.Start > 0 && r.End > 0) {
		faults = append(faults, fmt.Errorf("the rate ramps from %v to %v: both ends must be above 0 requests per second", r.Start, r.End))
	}
	for i, st := range l.Stages {
		if !(finite(st.Rate) && st.Rate > 0) || st.For <= 0 {
			faults = append(faults, fmt.Errorf("stage %d asks for %v requests per second for %s: both must be above 0", i+1, st.Rate, st.For))
		}
	}
	return faults
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Build makes the plan. Its error holds every fault that was found, joined; nothing is asked of any server.
func Build(spec bench.Spec, in Inputs) (*bench.Plan, error) {
	if faults := append(Check(spec), dataset.CheckInputs(&spec, &in)...); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	rnd, err := dataset.NewStreams(spec.Seed)
	if err != nil {
		return nil, err
	}
	set, err := dataset.Load(&spec, &in, rnd)
	if err != nil {
		return nil, err
	}
	p := &bench.Plan{Spec: spec, Requests: set.Requests, Source: set.Source, Notes: set.Notes, Repaired: set.Repaired}
	if set.Timed {
		if spec.Load.Rate > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("the request rate of %v has no effect: %s says when each request is due", spec.Load.Rate, spec.Dataset.Name))
		}
		p.Spec.Load.Trace, p.Spec.Load.Rate = true, 0
	}
	if err := schedule(p, rnd); err != nil {
		return nil, err
	}
	p.Seal()
	return p, nil
}

// schedule gives requests their adapters and due times; later turns have their conversation's adapter and no due time
// before there is an answer.
func schedule(p *bench.Plan, rnd dataset.Streams) error {
	next, err := p.Turns()
	if err != nil {
		return fmt.Errorf("the data set %s made a broken plan: %w", p.Spec.Dataset.Name, err)
	}
	var first []*bench.Request
	for i := range p.Requests {
		if p.Requests[i].After == nil {
			first = append(first, &p.Requests[i])
		}
	}
	adapter := adapters(p.Spec.LoRA, rnd)
	arrivalOf(p.Spec.Load)(first, &p.Spec, rnd, func(i int) { first[i].Adapter = adapter(i) })
	for i := range p.Requests {
		if k := next[i]; k >= 0 {
			p.Requests[k].Adapter, p.Requests[k].Due = p.Requests[i].Adapter, bench.Never
		}
	}
	return nil
}

// arrival gives requests their due times and calls each once with every request's index, before what it draws for it. A
// member of the family is one file.
type arrival func(requests []*bench.Request, s *bench.Spec, rnd dataset.Streams, each func(i int))

func arrivalOf(l bench.LoadSpec) arrival {
	switch {
	case l.Trace:
		return trace
	case len(l.Stages) > 0:
		return stages
	case !l.Scheduled():
		return unlimited
	case l.Arrival == bench.ArrivalGamma:
		return gamma
	case l.Arrival == bench.ArrivalConstant:
		return constant
	}
	return poisson
}
