package stats

import (
	"fmt"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// spreadBy says how the tokens of one reply were laid on its chunks.
type spreadBy int

// The ways, best first.
const (
	spreadUsage   spreadBy = iota // running usage in each chunk
	spreadIDs                     // token ids in each chunk
	spreadOne                     // as many chunks as tokens
	spreadEven                    // tokens shared out evenly: the counts differ
	spreadUnknown                 // no count to lay out
	spreadWays
)

var spreadWords = [spreadWays]string{
	spreadUsage:   "the server's running usage in each chunk",
	spreadIDs:     "the token ids in each chunk",
	spreadOne:     "one each, there are as many chunks as tokens",
	spreadEven:    "shared out evenly, the numbers of chunks and tokens differ",
	spreadUnknown: "unknown, nobody counted tokens",
}

// maxTokensPerChunk is above what any engine emits at once (and all that a Chunk can state); a count that needs more is not believed.
const maxTokensPerChunk = 1<<16 - 1

// spread returns how many tokens each chunk of a reply brought, given the reply's output tokens.
func spread(r *bench.Record, output bench.Count) ([]int64, spreadBy) {
	tokens := make([]int64, len(r.Chunks))
	if way := statedWay(r); way != spreadUnknown {
		for i := range r.Chunks {
			tokens[i] = int64(r.Chunks[i].Tokens)
		}
		return tokens, way
	}
	n, known := output.Get()
	m := len(r.Chunks)
	if !known || m == 0 || n/m > maxTokensPerChunk {
		return nil, spreadUnknown
	}
	if n == m {
		for i := range tokens {
			tokens[i] = 1
		}
		return tokens, spreadOne
	}
	for i := range tokens { // ⌊(i+1)·n/m⌋ − ⌊i·n/m⌋: whole tokens that add up to n
		tokens[i] = int64((i+1)*n/m - i*n/m)
	}
	return tokens, spreadEven
}

// statedWay returns by which protocol field the chunks' tokens are known, where they are.
func statedWay(r *bench.Record) spreadBy {
	way := spreadUnknown
	switch r.ChunkTokens {
	case bench.ChunkTokensUsage:
		way = spreadUsage
	case bench.ChunkTokensIDs:
		way = spreadIDs
	case bench.ChunkTokensUnknown:
		return spreadUnknown
	}
	for i := range r.Chunks {
		if r.Chunks[i].Tokens > 0 {
			return way
		}
	}
	return spreadUnknown
}

// spreadInWords tells how many replies were laid out in which way.
func spreadInWords(replies [spreadWays]int) string {
	var parts []string
	total := 0
	for _, n := range replies {
		total += n
	}
	for way, n := range replies {
		switch {
		case n == 0:
		case n == total:
			return spreadWords[way]
		default:
			parts = append(parts, fmt.Sprintf("%s (%s)", spreadWords[way], bench.Part(n, total, "reply")))
		}
	}
	return strings.Join(parts, "; ")
}
