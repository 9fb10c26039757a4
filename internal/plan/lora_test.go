package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/dataset"
)

// scheduled is a plan of n requests after schedule.
func scheduled(t *testing.T, s bench.Spec, requests ...bench.Request) *bench.Plan {
	t.Helper()
	rnd, err := dataset.NewStreams(s.Seed)
	if err != nil {
		t.Fatal(err)
	}
	p := &bench.Plan{Spec: s, Requests: requests}
	if err := schedule(p, rnd); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAdaptersAreTheOriginals: random.choice and numpy.random.choice from seed 7, the latter between exponential gaps of mean
// 0.1, by CPython 3.11 and NumPy 2.4.
func TestAdaptersAreTheOriginals(t *testing.T) {
	gaps := []float64{0.1513758674558787, 0.12854185268208107, 0.07732642768895222, 0.00747786483172218, 0.06929122098188521, 0.16283100568960474}
	for _, tc := range []struct {
		mix  bench.LoRAMix
		want string
	}{
		{bench.LoRAUniform, "cbdaaacabaaddabadaabadababcdbacbabcaaabd"},
		{bench.LoRASkewed, "abdbabaaadbadbbaaacbbbbaabbaabdabdccacaa"},
		{bench.LoRARoundRobin, strings.Repeat("abcd", 10)},
	} {
		s := bench.Spec{Dialect: bench.DialectSGLang, Seed: 7, Load: bench.LoadSpec{Rate: 10},
			LoRA: &bench.LoRA{Names: []string{"a", "b", "c", "d"}, Mix: tc.mix, Alpha: 1.5}}
		p := scheduled(t, s, make([]bench.Request, 40)...)
		got := ""
		for _, r := range p.Requests {
			got += r.Adapter
		}
		if got != tc.want {
			t.Errorf("%s: adapters %s, want %s", tc.mix, got, tc.want)
		}
		if tc.mix != bench.LoRASkewed {
			continue
		}
		at := 0.0
		for i, g := range gaps {
			if d := time.Duration(p.Requests[i].Due).Seconds(); math.Abs(d-at) > 1e-9 {
				t.Errorf("request %d is due at %v, want %v: its gap follows its adapter", i, d, at)
			}
			at += g
		}
	}
}

// TestTurnsTakeNoGapOfTheirOwn: a conversation is one arrival with one adapter.
func TestTurnsTakeNoGapOfTheirOwn(t *testing.T) {
	s := bench.Spec{Dialect: bench.DialectSGLang, Seed: 7, Load: bench.LoadSpec{Rate: 10}, LoRA: &bench.LoRA{Names: []string{"a", "b"}, Mix: bench.LoRARoundRobin}}
	turn := func(k int) bench.Request { return bench.Request{After: &bench.After{Request: k}} }
	p := scheduled(t, s, bench.Request{}, turn(0), turn(1), bench.Request{}, turn(3), bench.Request{})
	single := scheduled(t, s, make([]bench.Request, 3)...)
	adapters := ""
	for i, r := range p.Requests {
		adapters += r.Adapter
		if r.After != nil && r.Due.Known() {
			t.Errorf("turn %d is due at %v before its conversation has come to it", i, r.Due)
		}
	}
	for k, i := range []int{0, 3, 5} {
		if p.Requests[i].Due != single.Requests[k].Due {
			t.Errorf("conversation %d is due at %v, want %v", k, p.Requests[i].Due, single.Requests[k].Due)
		}
	}
	if adapters != "aaabba" {
		t.Errorf("adapters = %s, want one for each conversation: aaabba", adapters)
	}
}

func TestAdapterFaults(t *testing.T) {
	for _, tc := range []struct {
		lora bench.LoRA
		want string
	}{
		{bench.LoRA{Mix: bench.LoRAUniform}, "none was named"},
		{bench.LoRA{Mix: bench.LoRAUniform, Names: []string{"a", ""}}, "adapter 2 is empty"},
		{bench.LoRA{Mix: bench.LoRASkewed, Names: []string{"a"}, Alpha: 1}, "skew is 1"},
		{bench.LoRA{Mix: "zig", Names: []string{"a"}}, `no mix of adapters "zig"`},
	} {
		faults := checkLoRA(&tc.lora)
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), tc.want) {
			t.Errorf("checkLoRA(%+v) = %v, want one with %q", tc.lora, faults, tc.want)
		}
	}
}
