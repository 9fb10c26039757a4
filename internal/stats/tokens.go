package stats

import (
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// countTokens fills in the totals over successes and who counted them.
func (r *run) countTokens(s *bench.Summary) {
	zero := bench.Counted(0)
	s.OutputTokens, s.ReasoningTokens, s.Retokenized = zero, zero, zero
	s.InputByTokenizer, s.InputTemplated = zero, zero
	server, verifies := zero, zero
	var byServer, byTokenizer int
	var ways [spreadWays]int
	for i := range r.replies {
		rep := &r.replies[i]
		u := &rep.rec.Usage
		switch {
		case u.Completion.Known():
			byServer++
		case rep.output.Known():
			byTokenizer++
		}
		s.OutputTokens = s.OutputTokens.Plus(rep.output)
		s.ReasoningTokens = s.ReasoningTokens.Plus(u.Reasoning)
		s.Retokenized = s.Retokenized.Plus(rep.rec.Retokenized)
		server = server.Plus(u.Prompt)
		raw, templated := plannedInput(rep.req)
		s.InputByTokenizer = s.InputByTokenizer.Plus(raw)
		s.InputTemplated = s.InputTemplated.Plus(templated)
		if u.Cached.Known() {
			if s.CachedStated == 0 {
				s.CachedTokens = zero
			}
			s.CachedTokens = s.CachedTokens.Plus(u.Cached)
			s.CachedStated++
		}
		addLevels(&s.CachedBy, u.CachedBy)
		verifies = verifies.Plus(u.Verifies)
		if rep.rec.Streamed && len(rep.rec.Chunks) > 0 {
			ways[rep.by]++
		}
	}
	if v, known := verifies.Get(); known && v > 0 && s.OutputTokens.Known() {
		s.AcceptLength = bench.Measured(float64(s.OutputTokens.Or(0)) / float64(v))
	}
	s.ChunkTokens = spreadInWords(ways)
	s.OutputSource = outputSource(byServer, byTokenizer, len(r.replies))
	s.InputTokens, s.InputSource = server, bench.TokensByServer
	if !server.Known() {
		s.InputTokens, s.InputSource = s.InputByTokenizer, bench.TokensByTokenizer
	}
	if !s.InputTokens.Known() || len(r.replies) == 0 {
		s.InputSource = bench.TokensUnknown
	}
	if len(r.replies) == 0 { // sums over nothing are 0, but nobody counted these
		s.ReasoningTokens, s.Retokenized, s.InputByTokenizer, s.InputTemplated = bench.Unknown, bench.Unknown, bench.Unknown, bench.Unknown
	}
}

// addLevels adds the levels that one answer states.
func addLevels(sum *bench.CacheLevels, l bench.CacheLevels) {
	add := func(to *bench.Count, n bench.Count) {
		if n.Known() {
			*to = bench.Counted(to.Or(0) + n.Or(0))
		}
	}
	add(&sum.Device, l.Device)
	add(&sum.Host, l.Host)
	add(&sum.Storage, l.Storage)
	if l.Backend != "" {
		sum.Backend = l.Backend
	}
}

// plannedInput returns the tokenizer's two counts of a prompt.
func plannedInput(req *bench.Request) (raw, templated bench.Count) {
	if req == nil {
		return bench.Unknown, bench.Unknown
	}
	return req.InputTokens, req.TemplatedTokens
}

func outputSource(byServer, byTokenizer, replies int) bench.TokenSource {
	switch {
	case replies == 0 || byServer+byTokenizer < replies:
		return bench.TokensUnknown
	case byTokenizer == 0:
		return bench.TokensByServer
	case byServer == 0:
		return bench.TokensByTokenizer
	}
	return bench.TokensMixed
}

// notes are facts that leave the verdict alone but change how a figure reads.
func (r *run) notes(s *bench.Summary) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	var noUsage, uncounted, short, onePiece, whole int
	for i := range r.replies {
		rep := &r.replies[i]
		if !rep.rec.Usage.Completion.Known() {
			noUsage++
		}
		if !rep.output.Known() {
			uncounted++
		}
		if n, known := rep.rec.Usage.Completion.Get(); known && rep.req != nil && n < rep.req.OutputTokens {
			short++
		}
		switch {
		case !rep.rec.Streamed:
			whole++
		case len(rep.rec.Chunks) > 1 && !rep.inPieces:
			onePiece++
		}
	}
	all := len(r.replies)
	switch {
	case uncounted > 0:
		note("output tokens are unknown: %s %s neither the server's usage nor a tokenizer's count", bench.Part(uncounted, all, "answer"), bench.Agree(uncounted, "has", "have"))
	case noUsage > 0:
		note("%s came without the server's usage; the tokenizer counted %s", bench.Part(noUsage, all, "answer"), bench.Agree(noUsage, "it", "them"))
	}
	if short > 0 && r.plan.Spec.Body.IgnoreEOS {
		note("%s %s shorter than asked although the end of text was to be ignored: the server may not know ignore_eos",
			bench.Part(short, all, "answer"), bench.Agree(short, "is", "are"))
	}
	if onePiece > 0 {
		note("%s %s received in one piece (buffered on the way?): no time between tokens is measured for %s",
			bench.Part(onePiece, all, "streamed answer"), bench.Agree(onePiece, "was", "were"), bench.Agree(onePiece, "it", "them"))
	}
	if whole > 0 && whole < all {
		note("%s %s not streamed: no time to the first token and none between tokens", bench.Part(whole, all, "answer"), bench.Agree(whole, "was", "were"))
	}
	if s.Empty > 0 {
		note("%s %s counted tokens but no text; the time to the first token is not measured for %s", bench.Part(s.Empty, all, "answer"), bench.Agree(s.Empty, "has", "have"), bench.Agree(s.Empty, "it", "them"))
	}
	return out
}
