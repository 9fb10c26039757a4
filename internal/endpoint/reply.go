package endpoint

import (
	"bytes"
	"math"

	"github.com/servemark/servemark/internal/bench"
)

// reply gathers what the events of one reply say, and writes it to the Record.
type reply struct {
	native, pooling, keepText bool

	done      bool // [DONE]
	whole     bool // a complete JSON body
	usageLast bool // the last event was a usage-only chunk
	words     string
	vectors   int
	// source tells how chunks' tokens are known; broken that a chunk lacked them. counted is the running total.
	source  bench.ChunkTokens
	broken  bool
	counted int

	answer, thinking []byte
	so               soFar
}

// soFar is what SGLang's own stream has said: each event repeats all text and ids, or with increments only the new.
type soFar struct {
	mode   streamMode
	text   []byte // of the last event, until the mode is known
	length int
	ids    int
	tokens bench.Count
}

type streamMode uint8

const (
	modeUnknown streamMode = iota // treated as cumulative, SGLang's default
	modeCumulative
	modeIncremental
)

// maxText is the most text that is kept of one reply.
const maxText = maxEvent

// take adds one event, and reports whether it is terminal: a usage chunk after the finish reason. Where the server
// says [DONE] as well it is drained like everything else behind the end.
func (r *reply) take(rec *bench.Record, f *frame, at bench.Instant, size int) (terminal bool) {
	if f.failed {
		rec.Fail(bench.FailServer, failureWords(f.words))
	}
	if f.finish != "" && (rec.Finish == "" || stopsShort(f.finish)) {
		rec.Finish, r.words = f.finish, f.finishWords
	}
	merge(&rec.Usage, f.usage)
	answer, ids := f.hasAnswer, f.ids
	if r.native {
		answer, ids = r.nativeNews(f)
	}
	if channel, any := r.channel(f, answer, ids); any {
		rec.Chunks = append(rec.Chunks, bench.Chunk{At: at, Bytes: clampSize(size), Tokens: r.tokens(f, ids), Channel: channel})
	}
	if r.keepText && !r.native {
		r.answer = append(r.answer, f.answer...)
		r.thinking = append(r.thinking, f.thinking...)
	}
	if len(r.answer)+len(r.thinking) > maxText {
		rec.Fail(bench.FailMalformed, "the text of the reply is longer than 64 MiB, the most that is kept")
		return true
	}
	r.vectors += f.vectors
	r.done = r.done || f.done
	r.usageLast = !r.native && f.choices == 0 && f.usage.Completion.Known()
	return f.done || r.usageLast && rec.Finish != ""
}

func failureWords(words string) string {
	if words == "" {
		return "the server sent an error without words"
	}
	return words
}

// stopsShort reports whether a finish reason says that the reply is no success.
func stopsShort(finish string) bool { return finish == "abort" || finish == "error" }

// merge takes over what is known; later events know better.
func merge(u *bench.Usage, v bench.Usage) {
	u.Prompt = first(v.Prompt, u.Prompt)
	u.Completion = first(v.Completion, u.Completion)
	u.Reasoning = first(v.Reasoning, u.Reasoning)
	u.Cached = first(v.Cached, u.Cached)
	u.Verifies = first(v.Verifies, u.Verifies)
	if v.CachedBy != (bench.CacheLevels{}) {
		u.CachedBy = v.CachedBy
	}
}

// channel tells whether an event bears a token, and which kind decides: an answer before all, thinking after all text.
func (r *reply) channel(f *frame, answer bool, ids int) (c bench.Channel, any bool) {
	switch {
	case answer:
		return bench.ChannelContent, true
	case f.hasRefusal:
		return bench.ChannelRefusal, true
	case f.hasTool:
		return bench.ChannelTool, true
	case f.hasThinking:
		return bench.ChannelReasoning, true
	case ids > 0:
		return bench.ChannelIDs, true
	}
	return 0, false
}

// tokens returns how many tokens the event brings by the server's running count, else by its ids; 0 where it does not
// say. The first chunk decides which of the two is used; a later chunk without it ends the counting.
func (r *reply) tokens(f *frame, ids int) uint16 {
	completion, known := f.usage.Completion.Get()
	if r.source == bench.ChunkTokensUnknown && !r.broken {
		switch {
		case known:
			r.source = bench.ChunkTokensUsage
		case f.hasIDs:
			r.source = bench.ChunkTokensIDs
		}
	}
	n := 0
	switch r.source {
	case bench.ChunkTokensUsage:
		n = completion - r.counted
		r.counted = completion
		r.broken = r.broken || !known
	case bench.ChunkTokensIDs:
		n = ids
		r.broken = r.broken || !f.hasIDs
	default:
		r.broken = true
	}
	if n < 0 || n > math.MaxUint16 {
		r.broken = true
	}
	if r.broken {
		return 0
	}
	return uint16(n)
}

// nativeNews tells what is new in an event of SGLang's own stream: whether the text grew, and the number of new ids.
func (r *reply) nativeNews(f *frame) (grew bool, ids int) {
	s := &r.so
	s.decide(f)
	if s.mode == modeIncremental {
		grew, ids = len(f.answer) > 0, f.ids
		if r.keepText {
			r.answer = append(r.answer, f.answer...)
		}
		s.length += len(f.answer)
		s.ids += f.ids
	} else {
		grew, ids = len(f.answer) > s.length, max(0, f.ids-s.ids)
		if f.hasAnswer {
			s.length = len(f.answer)
			if r.keepText {
				r.answer = append(r.answer[:0], f.answer...)
			}
		}
		s.ids = max(s.ids, f.ids)
	}
	if s.mode == modeUnknown {
		if f.hasAnswer {
			s.text = append(s.text[:0], f.answer...)
		}
	} else {
		s.text = nil
	}
	s.tokens = first(f.usage.Completion, s.tokens)
	return grew, ids
}

// decide finds the mode at the second event that brings something: by the ids where they are listed (as many as the
// running count says in all, or as it grew), else by whether the text begins with the one before.
func (s *soFar) decide(f *frame) {
	if s.mode != modeUnknown || s.length == 0 && s.ids == 0 {
		return
	}
	before, known := s.tokens.Get()
	now, grows := f.usage.Completion.Get()
	grows = known && grows && before > 0 && now > before
	switch {
	case grows && f.ids == now:
		s.mode = modeCumulative
	case grows && f.ids == now-before && f.ids > 0:
		s.mode = modeIncremental
	case s.length == 0 || !f.hasAnswer:
	case !bytes.HasPrefix(f.answer, s.text):
		s.mode = modeIncremental
	case len(f.answer) > len(s.text):
		s.mode = modeCumulative
	}
}

// finish writes what is known only at the end.
func (r *reply) finish(rec *bench.Record) {
	rec.ChunkTokens = r.source
	if r.broken {
		rec.ChunkTokens = bench.ChunkTokensUnknown
		for i := range rec.Chunks {
			rec.Chunks[i].Tokens = 0
		}
	}
	if r.keepText {
		rec.Text, rec.Thinking = string(append(r.thinking, r.answer...)), len(r.thinking)
	}
	if stopsShort(rec.Finish) {
		kind, message := bench.FailAborted, `the server ended the reply with finish_reason "`+rec.Finish+`"`
		if rec.Finish == "error" {
			kind = bench.FailServer
		}
		if r.words != "" {
			message = bound(r.words)
		}
		rec.Fail(kind, message)
	}
}

// ended reports whether there is evidence that the reply came to its end.
func (r *reply) ended(rec *bench.Record) bool {
	return r.done || r.whole || r.usageLast || rec.Finish != ""
}

// judge looks for evidence of work in a reply that ended.
func (r *reply) judge(rec *bench.Record) {
	if len(rec.Chunks) > 0 {
		return
	}
	if r.pooling {
		if r.vectors == 0 {
			rec.Fail(bench.FailEmpty, "the reply ended without a vector or score")
		}
		return
	}
	if n, known := rec.Usage.Completion.Get(); known && n >= 1 {
		return // finished without text: a success, counted as empty
	}
	rec.Fail(bench.FailEmpty, "the reply ended without a token and without a usage that counts one")
}

// clampSize fits a size into a chunk's field; events are bounded far below its range.
func clampSize(n int) uint32 { return uint32(min(n, math.MaxUint32)) }
