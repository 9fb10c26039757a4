package stats

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/servemark/servemark/internal/bench"
)

// groupFailures counts failures of one kind, status and wording. Wordings are equal where they differ in numbers, addresses
// and ids only; a group shows the words of its request with the smallest id.
func groupFailures(records []*bench.Record) []bench.FailureGroup {
	type key struct {
		kind    bench.FailureKind
		status  int
		wording string
	}
	type example struct {
		group bench.FailureGroup
		id    int
	}
	groups := map[key]*example{}
	for _, r := range records {
		if r.Cancelled || r.Failure == nil {
			continue
		}
		k := key{r.Failure.Kind, r.Status, wording(r.Failure.Message)}
		g := groups[k]
		if g == nil {
			g = &example{bench.FailureGroup{Kind: k.kind, Status: k.status, Message: r.Failure.Message}, r.ID}
			groups[k] = g
		}
		if r.ID < g.id || r.ID == g.id && r.Failure.Message < g.group.Message {
			g.id, g.group.Message = r.ID, r.Failure.Message
		}
		g.group.Count++
	}
	out := make([]bench.FailureGroup, 0, len(groups))
	for _, g := range groups {
		out = append(out, g.group)
	}
	slices.SortFunc(out, func(a, b bench.FailureGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Status, b.Status),
			cmp.Compare(a.Message, b.Message))
	})
	return out
}

// wordingBytes is how much of a message tells two causes apart.
const wordingBytes = 2000

// wording returns a message with every word that holds a digit (numbers, ports, addresses, request ids, UUIDs, hashes)
// replaced by "#", and runs of such words joined by ":", "." or "-" by a single one.
func wording(message string) string {
	message = message[:min(len(message), wordingBytes)]
	var b strings.Builder
	for len(message) > 0 {
		n := strings.IndexFunc(message, func(r rune) bool { return !wordRune(r) })
		if n < 0 {
			n = len(message)
		}
		word := message[:n]
		message = message[n:]
		if strings.ContainsFunc(word, unicode.IsDigit) {
			collapse(&b)
		} else {
			b.WriteString(word)
		}
		n = strings.IndexFunc(message, wordRune)
		if n < 0 {
			n = len(message)
		}
		b.WriteString(message[:n])
		message = message[n:]
	}
	return b.String()
}

// collapse writes "#", unless what stands there is "#" and a joint of an address.
func collapse(b *strings.Builder) {
	s := b.String()
	joint := strings.TrimRight(s, ":.[]")
	if joint != s && strings.HasSuffix(joint, "#") {
		b.Reset()
		b.WriteString(joint)
		return
	}
	b.WriteByte('#')
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}
