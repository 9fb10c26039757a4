package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// probes are texts on which tokenizers that differ tend to part: other revisions, other opening tokens, other scripts,
// runs of blanks.
var probes = []string{
	"The quick brown fox jumps over 13 lazy dogs; it's 7:30 o'clock.",
	"東京の天気は晴れ 🙂👍🏽 — Привет, naïve café!",
	"def f(x):\n\tif x  >  10:\n        return {'a': [1,2,3]}   \n",
}

// CompareWithServer lets the tokenizer of this machine and the server's own tokenize three texts and says in words where they
// part first; "" where they agree.
func CompareWithServer(local, server Text) (string, error) {
	for _, text := range probes {
		ours, err := local.Encode(text, false)
		if err != nil {
			return "", fmt.Errorf("the tokenizer fails on a probe: %w", err)
		}
		theirs, err := server.Encode(text, false)
		if err != nil {
			return "", fmt.Errorf("the server's tokenize route fails on a probe: %w", err)
		}
		if slices.Equal(ours, theirs) {
			continue
		}
		at := 0
		for at < min(len(ours), len(theirs)) && ours[at] == theirs[at] {
			at++
		}
		return fmt.Sprintf("on %q the tokenizer here gives %s and the server %d; they part at token %d (%s here, %s there)",
			clip(text, 24), bench.Number(len(ours), "token"), len(theirs), at, idAt(ours, at), idAt(theirs, at)), nil
	}
	return "", nil
}

func idAt(ids []uint32, at int) string {
	if at < len(ids) {
		return fmt.Sprint(ids[at])
	}
	return "its end"
}

// clip shortens a text to so many runes of its first line.
func clip(s string, n int) string {
	s, _, cut := strings.Cut(s, "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	if cut {
		return s + "…"
	}
	return s
}
