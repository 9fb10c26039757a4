package cli

import "testing"

func TestMeant(t *testing.T) {
	for typed, want := range map[string]string{
		"itll":          "; did you mean itl?",
		"TPTO":          "; did you mean first-answer or tpot or itl?",
		"tokens_per_s":  "; did you mean throughput?",
		"latenesss":     "; did you mean lateness?",
		"inter-latency": "",
		"goodputt":      "; did you mean goodput?",
		"foo":           "",
		"token":         "; did you mean output-tokens?",
		"é":             "",
		"":              "",
	} {
		if got := meant(typed); got != want {
			t.Errorf("meant(%q) = %q, want %q", typed, got, want)
		}
	}
}
