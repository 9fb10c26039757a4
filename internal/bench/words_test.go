package bench

import "testing"

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "reply", "0 replies"}, {1, "reply", "1 reply"}, {2, "reply", "2 replies"}, {1, "key", "1 key"}, {2, "key", "2 keys"},
		{2, "prefix", "2 prefixes"}, {3, "batch", "3 batches"}, {2, "output token", "2 output tokens"}, {-1, "y", "-1 ys"}, {5, "pass", "5 passes"},
	} {
		if got := Number(tt.n, tt.noun); got != tt.want {
			t.Errorf("Number(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.want)
		}
	}
}

func TestPart(t *testing.T) {
	for _, tt := range []struct {
		n, all int
		want   string
	}{{1, 1, "1 of 1 request"}, {1, 3, "1 of 3 requests"}, {0, 1, "0 of 1 request"}, {3, 3, "3 of 3 requests"}} {
		if got := Part(tt.n, tt.all, "request"); got != tt.want {
			t.Errorf("Part(%d, %d) = %q, want %q", tt.n, tt.all, got, tt.want)
		}
	}
}

func TestAgree(t *testing.T) {
	for n, want := range map[int]string{0: "are", 1: "is", 2: "are"} {
		if got := Agree(n, "is", "are"); got != want {
			t.Errorf("Agree(%d) = %q, want %q", n, got, want)
		}
	}
}
