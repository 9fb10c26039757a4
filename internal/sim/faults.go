package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/sim/prose"
)

// FaultKind names one way a server goes wrong.
type FaultKind string

// The faults a server can show on demand.
const (
	FaultRefuse    FaultKind = "refuse"      // the connection is reset before any response
	FaultBusy      FaultKind = "429"         // HTTP 429 with Retry-After
	FaultDown      FaultKind = "503"         // HTTP 503 with Retry-After
	FaultSlowStart FaultKind = "slow-start"  // the request is taken up only after Delay
	FaultError     FaultKind = "error-frame" // an error object in the stream after After tokens, in the words of the flavour
	FaultEOF       FaultKind = "eof"         // the body ends cleanly after After tokens, with no finish reason and no end marker
	FaultReset     FaultKind = "reset"       // the connection is reset after After tokens
	FaultStall     FaultKind = "stall"       // nothing more after After tokens, for Delay (0: until the client leaves)
	FaultSlowBytes FaultKind = "slow-bytes"  // the bytes of every frame leave one at a time, Delay apart (0: 1 ms)
	FaultSplit     FaultKind = "split-utf8"  // the answer begins with multi-byte characters and its writes end inside them
	FaultGarbage   FaultKind = "garbage"     // one event that is not JSON after After tokens, then the rest as usual
	FaultCrash     FaultKind = "crash"       // the whole server dies when the request arrives
)

var faultKinds = []FaultKind{FaultRefuse, FaultBusy, FaultDown, FaultSlowStart, FaultError, FaultEOF, FaultReset, FaultStall, FaultSlowBytes,
	FaultSplit, FaultGarbage, FaultCrash}

// optionsOf lists what each kind reads beside rate and at.
var optionsOf = map[FaultKind][]string{
	FaultBusy: {"retry-after"}, FaultDown: {"retry-after"}, FaultSlowStart: {"delay"}, FaultSlowBytes: {"delay"},
	FaultError: {"after"}, FaultEOF: {"after"}, FaultReset: {"after"}, FaultStall: {"after", "delay"}, FaultGarbage: {"after"},
}

// Fault makes some requests go wrong: a share of them drawn by seed, or those with the given numbers. Generation requests are
// numbered from 1 in the order they arrive; the first fault of the list that takes a request is shown.
type Fault struct {
	Kind FaultKind `json:"kind"`
	Rate float64   `json:"rate,omitempty"`
	At   []int     `json:"at,omitempty"`
	// After is how many tokens of the answer leave before a fault in mid-stream.
	After int           `json:"after,omitempty"`
	Delay time.Duration `json:"delay,omitempty"`
	// RetryAfter is told to the client with 429 and 503, in whole seconds.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

// ParseFault reads "kind:option=value,…" with the options rate, at (numbers joined by +), after, delay and retry-after,
// for example "429:rate=0.1,retry-after=2s" or "reset:at=3+7,after=10".
func ParseFault(text string) (Fault, error) {
	kind, options, _ := strings.Cut(text, ":")
	f := Fault{Kind: FaultKind(kind)}
	var errs []error
	for opt := range strings.SplitSeq(options, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(opt), "=")
		if !ok && name == "" {
			continue
		}
		var err error
		switch name {
		case "rate":
			f.Rate, err = strconv.ParseFloat(value, 64)
		case "at":
			for one := range strings.SplitSeq(value, "+") {
				n, e := strconv.Atoi(one)
				err = errors.Join(err, e)
				f.At = append(f.At, n)
			}
		case "after":
			f.After, err = strconv.Atoi(value)
		case "delay":
			f.Delay, err = time.ParseDuration(value)
		case "retry-after":
			f.RetryAfter, err = time.ParseDuration(value)
		default:
			err = errors.New("unknown option; take rate, at, after, delay or retry-after")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("fault %q: option %q: %w", text, opt, err))
		}
	}
	if err := f.validate(); err != nil {
		errs = append(errs, err)
	}
	return f, errors.Join(errs...)
}

func (f Fault) validate() error {
	known := false
	for _, k := range faultKinds {
		known = known || k == f.Kind
	}
	var errs []error
	if !known {
		errs = append(errs, fmt.Errorf("fault kind %q is unknown; take one of %v", f.Kind, faultKinds))
	}
	if !(f.Rate >= 0 && f.Rate <= 1) {
		errs = append(errs, fmt.Errorf("fault %s: rate %v lies outside 0..1", f.Kind, f.Rate))
	}
	if f.Rate == 0 && len(f.At) == 0 {
		errs = append(errs, fmt.Errorf("fault %s takes no request; give a rate or request numbers", f.Kind))
	}
	for _, n := range f.At {
		if n < 1 {
			errs = append(errs, fmt.Errorf("fault %s: request %d; requests are numbered from 1", f.Kind, n))
		}
	}
	for name, typed := range map[string]bool{"after": f.After != 0, "delay": f.Delay != 0, "retry-after": f.RetryAfter != 0} {
		if typed && !slices.Contains(optionsOf[f.Kind], name) {
			errs = append(errs, fmt.Errorf("fault %s: option %s has no effect on it; leave it out", f.Kind, name))
		}
	}
	if f.After < 0 || f.Delay < 0 || f.RetryAfter < 0 {
		errs = append(errs, fmt.Errorf("fault %s: after %d, delay %v, retry-after %v; none may be negative", f.Kind, f.After, f.Delay, f.RetryAfter))
	}
	return errors.Join(errs...)
}

// takes reports whether request n (from 1) shows the fault; index tells faults of one list apart.
func (f Fault) takes(seed uint64, index, n int) bool {
	for _, k := range f.At {
		if k == n {
			return true
		}
	}
	return f.Rate > 0 && float64(prose.Mix(prose.Mix(seed+uint64(index)*0x51ed27)+uint64(n))>>11)/(1<<53) < f.Rate
}

// nextFault numbers a generation request and returns what will go wrong with it, or nil.
func (s *Server) nextFault() *Fault {
	n := int(s.asked.Add(1))
	for i := range s.cfg.Faults {
		if s.cfg.Faults[i].takes(s.cfg.Seed, i, n) {
			return &s.cfg.Faults[i]
		}
	}
	return nil
}
