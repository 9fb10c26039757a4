package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
)

func TestPresetsAreWhole(t *testing.T) {
	list, err := Presets()
	if err != nil || len(list) < 4 {
		t.Fatalf("Presets() = %d, %v, want at least 4", len(list), err)
	}
	for _, p := range list {
		if err := p.Config().Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if len(p.Sources) < 3 || p.About == "" || p.Engine.KVTokens < p.MaxModelLen/8 {
			t.Errorf("%s lacks sources, a description or KV: %+v", p.Name, p)
		}
	}
	if _, err := PresetNamed("nothing"); err == nil {
		t.Error("PresetNamed(nothing) = nil, want an error")
	}
}

func TestReadPreset(t *testing.T) {
	p, err := ReadPreset(strings.NewReader(`{"base":"dense-8b-h100","engine":{"step":{"base_ms":9}},"served_model":"mine"}`))
	if err != nil || p.Engine.Step.Base != 9 || p.Engine.Step.PerToken != 0.032 || p.ServedModel != "mine" || p.Flavour != VLLM {
		t.Errorf("ReadPreset = %+v, %v; want the base with two values changed", p, err)
	}
	for _, bad := range []string{`{`, `{"base":"nothing"}`, `{"base":"laptop-3b","speed":1}`, `{"base":"laptop-3b","engine":{"step":{"base_ms":-1}}}`} {
		if _, err := ReadPreset(strings.NewReader(bad)); err == nil {
			t.Errorf("ReadPreset(%s) = nil, want an error", bad)
		}
	}
}

// published are tok/s in all of GLM-5.1-NVFP4 on 8 RTX PRO 6000 without speculative decoding (community wiki rtx6kpro,
// revision e2c2b95), by context in thousands and concurrency 1, 2, 4, …
var published = map[int][]float64{
	0: {50.0, 84.7, 153.4, 260.9, 426.2, 649.0, 1068.7}, 16: {48.1, 81.4, 145.5, 244.0, 378.5}, 32: {47.6, 79.5, 141.5, 234.4},
	64: {46.7, 78.4, 136.7}, 128: {45.6, 75.5},
}

func TestTunedPresetFitsWhatWasPublished(t *testing.T) {
	p, err := PresetNamed("glm-5-nvfp4-8xpro6000")
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	for context, row := range published {
		for i, want := range row {
			b := 1 << i
			got := float64(b) / p.Engine.StepTime(b, b*context*1000, 0, 0).Seconds()
			sum += math.Abs(got/want - 1)
			n++
		}
	}
	if mape := sum / float64(n); mape > 0.05 {
		t.Errorf("decode: mean error %.1f %% over %d points, want at most 5 %%", mape*100, n)
	}
	for length, rate := range map[int]float64{8000: 4398, 16000: 4354, 32000: 4191, 64000: 3800, 128000: 3224} {
		got := float64(length) / runAlone(t, p.Engine, length, 1).Seconds()
		if math.Abs(got/rate-1) > 0.03 {
			t.Errorf("prefill of %d: %.0f tok/s, published %.0f", length, got, rate)
		}
	}
}

// runAlone is the time from arrival to last token of a lone request.
func runAlone(t *testing.T, p engine.Params, prompt, output int) time.Duration {
	t.Helper()
	e, err := engine.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Submit(engine.Request{Prompt: prompt, Output: output}, 0, 0); err != nil {
		t.Fatal(err)
	}
	var end time.Duration
	e.Advance(time.Hour, func(em engine.Emission) { end = em.At })
	return end
}

// TestFirstDayPresetMakes806 keeps 128 requests of 1024 tokens in and out inside and measures the steady rate.
func TestFirstDayPresetMakes806(t *testing.T) {
	p, err := PresetNamed("glm-5-nvfp4-8xpro6000-first-day")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(p.Engine)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(at time.Duration) {
		if _, err := e.Submit(engine.Request{Prompt: 1024, Output: 1024}, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for range 128 {
		ask(0)
	}
	var warm int
	var from time.Duration
	for e.Now() < 20*time.Minute {
		next, _ := e.Next()
		var ended []time.Duration
		e.Advance(next, func(em engine.Emission) {
			if em.Last {
				ended = append(ended, em.At)
			}
		})
		for _, at := range ended {
			ask(at)
		}
		if from == 0 && e.Now() > 5*time.Minute {
			warm, from = e.Counts().OutputTokens, e.Now()
		}
	}
	rate := float64(e.Counts().OutputTokens-warm) / (e.Now() - from).Seconds()
	if math.Abs(rate/806-1) > 0.01 {
		t.Errorf("128 requests make %.1f output tok/s, want 806", rate)
	}
}
