package report

import "testing"

func TestMargin(t *testing.T) {
	for m, want := range map[float64]string{0: "0 % to spare", 0.1234: "12.3 % to spare", -0.5: "50 % short", -19.24: "1924 % short", 120: "12000 % to spare"} {
		if got := margin(m); got != want {
			t.Errorf("margin(%v) = %q, want %q", m, got, want)
		}
	}
}
