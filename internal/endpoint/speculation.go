package endpoint

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Counters are a server's totals of speculative decoding since its start, as /metrics states them. The zero value is a
// server that states none.
type Counters struct {
	// drafts counts verifications; generated is all tokens put out, where accepted ones are not told apart (SGLang).
	drafts, draftTokens, accepted, generated float64
	positions                                map[int]float64
	// answered is true where there are counters at all, known where those of speculation are among them: some servers leave a
	// counter out until it counts something.
	answered, known bool
}

// countersLimit is how long an answer of /metrics may take; a server under load is slow to give one.
const countersLimit = 3 * time.Second

// ReadCounters asks GET /metrics. A server without the route, or without speculation, gives the zero Counters.
func ReadCounters(ctx context.Context, client *http.Client, base string, auth Auth) Counters {
	a := newAsker(client, base, "", auth).get(ctx, routeMetrics, countersLimit)
	if !a.ok() {
		return Counters{}
	}
	return parseCounters(string(a.body))
}

// parseCounters reads the Prometheus text form; series of several engines are added up.
func parseCounters(text string) Counters {
	c := Counters{positions: map[int]float64{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, labels, value, ok := sampleOf(line)
		if !ok {
			continue
		}
		c.answered = true
		switch name {
		case "vllm:spec_decode_num_drafts_total", "sglang:spec_verify_calls_total":
			c.drafts += value
			c.known = true
		case "vllm:spec_decode_num_draft_tokens_total":
			c.draftTokens += value
		case "vllm:spec_decode_num_accepted_tokens_total":
			c.accepted += value
		case "vllm:spec_decode_num_accepted_tokens_per_pos_total":
			if pos, err := strconv.Atoi(label(labels, "position")); err == nil && pos >= 0 {
				c.positions[pos] += value
			}
		case "sglang:generation_tokens_total":
			c.generated += value
		}
	}
	return c
}

// sampleOf splits a line of the Prometheus text form.
func sampleOf(line string) (name, labels string, value float64, ok bool) {
	if line == "" || line[0] == '#' {
		return "", "", 0, false
	}
	rest := line
	if open := strings.IndexByte(line, '{'); open >= 0 {
		end := strings.LastIndexByte(line, '}')
		if end < open {
			return "", "", 0, false
		}
		name, labels, rest = line[:open], line[open+1:end], line[end+1:]
	} else if name, rest, ok = strings.Cut(line, " "); !ok {
		return "", "", 0, false
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", "", 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	return name, labels, value, err == nil
}

// label returns the value of a label that needs no unescaping.
func label(labels, name string) string {
	_, after, ok := strings.Cut(","+labels, ","+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(after, `"`)
	return value
}

// Since returns what was speculated between an earlier reading and this one; nil where either states nothing, nothing was
// verified, or the server was started anew in between.
func (c Counters) Since(before Counters) *bench.Speculation {
	drafts := c.drafts - before.drafts
	if !c.known || !before.answered || drafts <= 0 {
		return nil
	}
	s := &bench.Speculation{Drafts: int(drafts)}
	if c.draftTokens > 0 || c.accepted > 0 { // vLLM
		s.DraftTokens, s.Accepted = bench.Counted(int(c.draftTokens-before.draftTokens)), bench.Counted(int(c.accepted-before.accepted))
		s.AcceptLength = bench.Measured(1 + (c.accepted-before.accepted)/drafts)
		for pos := 0; ; pos++ {
			n, ok := c.positions[pos]
			if !ok {
				break
			}
			s.ByPosition = append(s.ByPosition, (n-before.positions[pos])/drafts)
		}
		return s
	}
	if generated := c.generated - before.generated; generated > 0 {
		s.AcceptLength = bench.Measured(generated / drafts)
	}
	return s
}
