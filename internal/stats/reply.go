package stats

import (
	"cmp"
	"slices"

	"github.com/servemark/servemark/internal/bench"
)

// reply is a Record with the request it answers and the numbers that follow from the two.
type reply struct {
	rec *bench.Record
	// req is nil where the plan does not hold the request.
	req    *bench.Request
	output bench.Count
	// tokens of each chunk, nil where unknown; by says how they are known.
	tokens []int64
	by     spreadBy

	ttft, answer, e2e, tpot bench.Measure
	// inPieces is true where the tokens were received at more than one instant, so that time between them exists.
	inPieces bool
}

// figure computes the numbers of a success.
func figure(rec *bench.Record, req *bench.Request) reply {
	r := reply{rec: rec, req: req, output: outputOf(rec), by: spreadUnknown}
	r.e2e = seconds(rec.Sent, lastToken(rec))
	if !rec.Streamed || len(rec.Chunks) == 0 {
		return r
	}
	r.tokens, r.by = spread(rec, r.output)
	r.inPieces = rec.LastChunk() != rec.FirstChunk()
	r.ttft = seconds(rec.Sent, rec.FirstChunk())
	r.answer = seconds(rec.Sent, rec.FirstAnswer())
	if n, known := r.output.Get(); known && n > 1 && r.inPieces {
		// E2E − TTFT, taken between the chunks themselves: the difference of two floats would miss a limit by its last digit.
		r.tpot = bench.Measured(rec.LastChunk().Sub(rec.FirstChunk()).Seconds() / float64(n-1))
	}
	return r
}

// lastToken is when the last token of a success arrived: with its last chunk, or, where tokens are not seen one by one,
// with the end of the reply.
func lastToken(rec *bench.Record) bench.Instant {
	if rec.Streamed && len(rec.Chunks) > 0 {
		return rec.LastChunk()
	}
	return rec.Done
}

// outputOf is the server's count, else the tokenizer's.
func outputOf(rec *bench.Record) bench.Count {
	if rec.Usage.Completion.Known() {
		return rec.Usage.Completion
	}
	return rec.Retokenized
}

// eachITL calls yield with the time per token (seconds) and the number of tokens of each chunk after the first that brought
// tokens. A chunk without new tokens adds its gap to the next one's. The first chunk's own tokens have no gap.
func (r *reply) eachITL(yield func(x float64, tokens int64)) {
	if !r.inPieces || r.tokens == nil {
		return
	}
	last := bench.Never
	for i, n := range r.tokens {
		if n == 0 {
			continue
		}
		at := r.rec.Chunks[i].At
		if last.Known() {
			yield(at.Sub(last).Seconds()/float64(n), n)
		}
		last = at
	}
}

// eachGap calls yield with the time between each two chunks, in seconds.
func (r *reply) eachGap(yield func(x float64)) {
	if !r.inPieces {
		return
	}
	for i := 1; i < len(r.rec.Chunks); i++ {
		yield(r.rec.Chunks[i].At.Sub(r.rec.Chunks[i-1].At).Seconds())
	}
}

// seconds is b−a where both happened.
func seconds(a, b bench.Instant) bench.Measure {
	d, ok := bench.Elapsed(a, b)
	if !ok {
		return bench.Measure{}
	}
	return bench.Measured(d.Seconds())
}

// requestsByID is an index of a plan's requests.
func requestsByID(plan *bench.Plan) map[int]*bench.Request {
	index := make(map[int]*bench.Request, len(plan.Requests))
	for i := range plan.Requests {
		index[plan.Requests[i].ID] = &plan.Requests[i]
	}
	return index
}

// byID returns pointers to the records in the order of their ids, so that nothing depends on the order in which they came.
func byID(records []bench.Record) []*bench.Record {
	out := make([]*bench.Record, len(records))
	for i := range records {
		out[i] = &records[i]
	}
	slices.SortStableFunc(out, func(a, b *bench.Record) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// maxListedITL bounds the values that one request's list of token times may have.
const maxListedITL = 1 << 24

// PerRequest returns the figures of every record, in the order of request ids. A request that did not succeed has
// Output 0, since none of its tokens counts, and no times.
func PerRequest(plan *bench.Plan, records []bench.Record) []bench.Figures {
	index := requestsByID(plan)
	out := make([]bench.Figures, 0, len(records))
	for _, rec := range byID(records) {
		req := index[rec.ID]
		f := bench.Figures{ID: rec.ID, Input: inputOf(rec, req), Output: bench.Counted(0)}
		if rec.OK() {
			r := figure(rec, req)
			f.Output, f.TTFT, f.E2E = r.output, r.ttft, r.e2e
			r.eachITL(func(x float64, n int64) {
				for ; n > 0 && len(f.ITL) < maxListedITL; n-- {
					f.ITL = append(f.ITL, x)
				}
			})
		}
		out = append(out, f)
	}
	return out
}

// inputOf is the server's count of the prompt, else the tokenizer's.
func inputOf(rec *bench.Record, req *bench.Request) bench.Count {
	if rec.Usage.Prompt.Known() || req == nil {
		return rec.Usage.Prompt
	}
	return req.InputTokens
}
