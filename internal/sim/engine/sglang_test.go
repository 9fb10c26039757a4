package engine

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRetractionChoosesAndReserves(t *testing.T) {
	e, err := New(Params{Schedule: SGLang})
	if err != nil {
		t.Fatal(err)
	}
	b := newBatch(e)
	for _, x := range [][2]int{{100, 7}, {50, 3}, {80, 3}, {60, 3}, {200, 9}} { // prompt, produced
		b.running = append(b.running, &Seq{Request: Request{Prompt: x[0], Output: 100, Limit: 100}, Produced: x[1], state: running})
	}
	for _, want := range []int{80, 60, 50, 100} {
		b.retract()
		if got := b.waiting[0].Prompt; got != want {
			t.Errorf("retracted the request with prompt %d, want %d", got, want)
		}
	}
	if want := float64(9+retractLook) / 101; math.Abs(b.ratio-want) > 1e-12 { // one request with 9 tokens and a limit of 100 is left
		t.Errorf("reserved share %v, want %v", b.ratio, want)
	}
}

// TestReservedShareDecays plans decode steps and looks at the share of remaining output that SGLang reserves.
func TestReservedShareDecays(t *testing.T) {
	e, err := New(Params{Schedule: SGLang})
	if err != nil {
		t.Fatal(err)
	}
	for steps, want := range map[int]float64{0: 0.7, 300: 0.7 - 300*0.7*0.86/600, 2000: 0.7 * 0.14} {
		b := newBatch(e)
		for range steps {
			b.planSGLang()
		}
		if math.Abs(b.ratio-want) > 1e-9 {
			t.Errorf("after %d decode steps: %v, want %v", steps, b.ratio, want)
		}
	}
}

// TestNoiseHasMeanOne draws many steps: the factor must neither speed the engine up nor slow it down.
func TestNoiseHasMeanOne(t *testing.T) {
	p := Params{Step: StepModel{Base: 10, Noise: 0.4}}
	r := rand.New(rand.NewPCG(1, 1))
	const n = 200_000
	sum, square := 0.0, 0.0
	for range n {
		x := float64(p.stepTime(1, 1, 0, 0, r)) / 10e6
		sum += x
		square += math.Log(x) * math.Log(x)
	}
	mean, sigma := sum/n, math.Sqrt(square/n-0.08*0.08) // the logarithm has mean −σ²/2
	if math.Abs(mean-1) > 0.005 || math.Abs(sigma-0.4) > 0.005 {
		t.Errorf("factor has mean %.4f and σ %.4f, want 1 and 0.4", mean, sigma)
	}
}
