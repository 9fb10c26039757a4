package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// parseSLO reads METRIC:MILLISECONDS.
func parseSLO(s string) (bench.SLO, error) {
	metric, value, ok := strings.Cut(s, ":")
	if !ok || metric != "ttft" && metric != "tpot" && metric != "e2el" {
		return bench.SLO{}, fmt.Errorf("%q is not METRIC:MILLISECONDS with ttft, tpot or e2el (ttft:500)", s)
	}
	ms, err := pyFloat(value)
	if err != nil || !(ms > 0) || math.IsInf(ms, 0) {
		return bench.SLO{}, fmt.Errorf("%q: %q is not a finite number of milliseconds above 0", s, value)
	}
	return bench.SLO{Metric: metric, Max: time.Duration(ms * float64(time.Millisecond))}, nil
}

// parseSLOs reads a list; of two limits for one metric the last wins.
func parseSLOs(list []string) []bench.SLO {
	var out []bench.SLO
	for _, s := range list {
		slo, err := parseSLO(s)
		if err != nil {
			continue // the parser has told it
		}
		replaced := false
		for i := range out {
			if out[i].Metric == slo.Metric {
				out[i], replaced = slo, true
			}
		}
		if !replaced {
			out = append(out, slo)
		}
	}
	return out
}

// parseDuration reads 90s, 2m, 1h30m, or a bare number of seconds.
func parseDuration(s string) (time.Duration, error) {
	if v, err := pyFloat(s); err == nil {
		if v < 0 || math.IsNaN(v) || v > 1e9 {
			return 0, fmt.Errorf("%q is not a time of at least 0", s)
		}
		return time.Duration(v * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(strings.TrimSpace(s))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a time", s)
	case d < 0:
		return 0, fmt.Errorf("%q is not a time of at least 0", s)
	}
	return d, nil
}

// parseRate reads a request rate: unlimited is inf or -1, given as 0.
func parseRate(s string) (rate float64, err error) {
	v, err := pyFloat(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a number", s)
	case v == -1 || math.IsInf(v, 1):
		return 0, nil
	case !(v > 0):
		return 0, fmt.Errorf("%s is out of range: requests per second above 0", s)
	case v < leastRate:
		return 0, fmt.Errorf("%s is less than one request in %d days", s, 11)
	}
	return v, nil
}

// leastRate is a request in eleven and a half days.
const leastRate = 1e-6

// parseHeaders reads KEY=VALUE words (or "Key: value"). Values may be secrets and stay out of messages.
func parseHeaders(list []string) (map[string]string, error) {
	out := map[string]string{}
	var errs []error
	for i, h := range list {
		key, value, ok := strings.Cut(h, "=")
		if k, v, colon := strings.Cut(h, ":"); colon && (!ok || len(k) < len(key)) && validHeaderName(k) {
			key, value, ok = k, v, true
		}
		key = strings.TrimSpace(key)
		if !ok || !validHeaderName(key) {
			errs = append(errs, fmt.Errorf("entry %d is not KEY=VALUE", i+1))
			continue
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			errs = append(errs, fmt.Errorf("the value of %s holds a line break", key))
			continue
		}
		out[key] = strings.TrimSpace(value)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

func validHeaderName(s string) bool {
	for _, r := range s {
		if r > '~' || r <= ' ' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) {
			return false
		}
	}
	return s != ""
}
