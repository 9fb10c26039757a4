package experiment

import (
	"math"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/stats"
)

// TestEarlyEndKeepsVerdicts: searches that end overloaded trials early and searches that see them through never say the opposite of a
// load, and no trial is ended early at a load that holds and that the whole trials leave standing, but for chance; it takes less time. Every second search
// begins at eight times the capacity, as one does who knows nothing of the server.
func TestEarlyEndKeepsVerdicts(t *testing.T) {
	seeds := sized(1, 6)
	for _, w := range append(worlds(), heldOut()...) {
		if seeds == 1 && w.name != "four places" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var a, b outcome
			var cuts, wrong, opposite, same int
			var short, full time.Duration // of the trials that were ended early
			for i := range seeds {
				seed, w := earlySeeds+int64(i)*1000, w
				if i%2 == 0 {
					w.start = math.Round(8 * w.truth)
				}
				whole := w.searchWith(t, seed, func(t testing.TB, p *bench.Plan, _ *stats.Outlook) []bench.Record { return w.run(t, p) })
				early := w.searchWith(t, seed, func(t testing.TB, p *bench.Plan, o *stats.Outlook) []bench.Record {
					records := w.observe(t, p, o)
					if o.Cut(records) != nil {
						short, full = short+lasted(records), full+lasted(w.run(t, p))
					}
					return records
				})
				final := standings(&whole)
				a.add(&whole, w.truth)
				b.add(&early, w.truth)
				for k, s := range early.Steps {
					if s.EndedEarly == "" {
						continue
					}
					cuts++
					if s.Load < 0.99*w.truth && final[s.Load] != stats.Missed { // to a hundredth it is not known
						wrong++
						t.Logf("seed %d, step %d at %v: %s", seed, k, s.Load, s.EndedEarly)
					}
					if s.Standing != stats.Missed {
						t.Errorf("seed %d, step %d at %v: ended early (%s) and %s, want missed", seed, k, s.Load, s.EndedEarly, s.Standing)
					}
				}
				alike := true
				for load, s := range standings(&early) {
					other, tried := final[load]
					alike = alike && tried && other == s
					if tried && s != other && s != stats.Open && other != stats.Open {
						opposite++
						t.Logf("seed %d: %v is %s, seen through %s", seed, load, s, other)
					}
				}
				if alike {
					same++
				}
			}
			t.Logf("%s, %d searches: %d trials ended early after %.0f s in place of %.0f (%.0f %% less), %d of them at loads that hold, where whole trials see no miss; %d loads judged the opposite way, %d searches alike in every load; %.0f s of load in place of %.0f (%.0f %% less), %d requests of %d; %d and %d hold the truth",
				w.name, seeds, cuts, short.Seconds(), full.Seconds(), saved(short, full), wrong, opposite, same, b.simulated.Seconds(), a.simulated.Seconds(), saved(b.simulated, a.simulated), b.requests, a.requests, b.held, a.held)
			if cuts == 0 || wrong*50 > seeds || opposite*33 > seeds || short >= full {
				t.Errorf("%s: of %d trials ended early %d were at loads that hold, %d loads were judged the opposite way in %d searches, %v in place of %v", w.name, cuts, wrong, opposite, seeds, short, full)
			}
		})
	}
}

// saved is how much less a is than b, in percent.
func saved(a, b time.Duration) float64 { return 100 * (1 - a.Seconds()/b.Seconds()) }

// earlySeeds are apart from those of all other tests.
const earlySeeds = 20_000_000

// standings are what a search found of each load in the end.
func standings(f *Found) map[float64]stats.Standing {
	out := map[float64]stats.Standing{}
	for _, s := range f.Steps {
		out[s.Load] = s.Standing
	}
	return out
}
