package bench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Channel is what kind of output a chunk carries.
type Channel uint8

// The channels. Only token-bearing chunks are recorded, so there is none for role or usage chunks.
const (
	ChannelContent   Channel = iota // answer text
	ChannelReasoning                // thinking, under either of its field names
	ChannelTool                     // tool or function call
	ChannelRefusal                  // refusal text
	ChannelIDs                      // new token ids without text
)

// Chunk is one token-bearing event of a reply as it was received; 16 bytes in memory. Chunks that share a read share
// At and Lag. In JSON it is the array [at_ns, tokens, channel, bytes, lag_us]; the lag is left out where it is unknown.
type Chunk struct {
	At Instant
	// Bytes is the size of the event on the wire.
	Bytes uint32
	// Tokens is the number of new tokens where the protocol states it for this chunk; 0 means not stated.
	Tokens  uint16
	Channel Channel
	// Lag is how long the event waited in the kernel for this client; the load engine sets it where At is a kernel stamp.
	Lag Lag
}

// MarshalJSON writes the array form.
func (c Chunk) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 48), '[')
	for i, n := range [4]int64{int64(c.At), int64(c.Tokens), int64(c.Channel), int64(c.Bytes)} {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	if d, known := c.Lag.Get(); known {
		b = strconv.AppendInt(append(b, ','), d.Microseconds(), 10)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads the array form, of four or five numbers.
func (c *Chunk) UnmarshalJSON(b []byte) error {
	a := [5]int64{4: -1}
	list := a[:0]
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("chunk: %w", err)
	}
	copy(a[:], list)
	*c = Chunk{At: Instant(a[0]), Tokens: uint16(a[1]), Channel: Channel(a[2]), Bytes: uint32(a[3])}
	if len(list) > 4 && a[4] >= 0 {
		c.Lag = LagOf(time.Duration(min(a[4], maxLagMicros)) * time.Microsecond)
	}
	return nil
}

// Usage is what the server says it counted.
type Usage struct {
	Prompt     Count `json:"prompt,omitzero"`
	Completion Count `json:"completion,omitzero"`
	Reasoning  Count `json:"reasoning,omitzero"`
	// Cached counts prompt tokens taken from the prefix cache. Null from the server is unknown, not 0.
	Cached Count `json:"cached,omitzero"`
	// CachedBy tells Cached apart by where the tokens lay, where the server says.
	CachedBy CacheLevels `json:"cached_by,omitzero"`
	// Verifies is how often speculation was verified: each time yields at least one token.
	Verifies Count `json:"verifies,omitzero"`
}

// CacheLevels are cached prompt tokens by storage level, as SGLang tells them.
type CacheLevels struct {
	Device  Count `json:"device,omitzero"`
	Host    Count `json:"host,omitzero"`
	Storage Count `json:"storage,omitzero"`
	// Backend names what holds the last level ("mooncake").
	Backend string `json:"backend,omitempty"`
}

// Sum adds the levels that are known.
func (l CacheLevels) Sum() Count {
	if !l.Device.Known() && !l.Host.Known() && !l.Storage.Known() {
		return Unknown
	}
	return Counted(l.Device.Or(0) + l.Host.Or(0) + l.Storage.Or(0))
}

// ChunkTokens says how the tokens of single chunks are known.
type ChunkTokens string

// Sources of per-chunk token counts, best first.
const (
	ChunkTokensUnknown ChunkTokens = ""      // not stated; derived later from totals
	ChunkTokensUsage   ChunkTokens = "usage" // running usage in each chunk
	ChunkTokensIDs     ChunkTokens = "ids"   // token ids in each chunk
)

// Connection tells how the request reached the server.
type Connection struct {
	// Reused is true where an idle connection was taken; the three instants are then Never.
	Reused    bool    `json:"reused,omitempty"`
	DialStart Instant `json:"dial_start"`
	Connected Instant `json:"connected"`
	TLSDone   Instant `json:"tls_done"`
	// Replaced is true where a reused connection died before the first response byte and a new one took over.
	Replaced bool `json:"replaced,omitempty"`
}

// FailureKind groups failures by what went wrong.
type FailureKind string

// Kinds of failure.
const (
	FailDNS       FailureKind = "name not resolved"
	FailConnect   FailureKind = "could not connect"
	FailTLS       FailureKind = "TLS"
	FailTimeout   FailureKind = "timed out"
	FailReset     FailureKind = "connection lost"
	FailStatus    FailureKind = "HTTP status"
	FailServer    FailureKind = "error in the reply"
	FailAborted   FailureKind = "aborted by the server"
	FailTruncated FailureKind = "stream ended early"
	FailEmpty     FailureKind = "empty reply"
	FailMalformed FailureKind = "unreadable reply"
	FailClient    FailureKind = "client limit"
)

// Failure says why a request does not count as a success.
type Failure struct {
	Kind FailureKind `json:"kind"`
	// Message is the server's own words, or the operating system's.
	Message string `json:"message"`
}

// Record is what happened to one Request: facts only, in the order due ≤ admitted ≤ sent ≤ written ≤ header ≤ chunks ≤
// done. There is exactly one for each Request that was
// admitted, failed and cancelled ones too. Use NewRecord: the zero Record's instants are 0, not Never.
type Record struct {
	ID       int     `json:"id"`
	Due      Instant `json:"due"`
	Admitted Instant `json:"admitted"`
	// Sent is just before the first byte of the request is written, Written after its last, or at the response's head where
	// that had come before the writer could look at the clock.
	Sent    Instant `json:"sent"`
	Written Instant `json:"written"`
	// Header is when the response head had been read.
	Header Instant `json:"header"`
	Chunks []Chunk `json:"chunks"`
	// Done is the terminal event of the reply, or the moment the request failed.
	Done       Instant    `json:"done"`
	Connection Connection `json:"connection"`
	Status     int        `json:"status,omitempty"`
	// Finish is the finish reason in the server's word.
	Finish string `json:"finish,omitempty"`
	Usage  Usage  `json:"usage"`
	// ChunkTokens says where the chunks' Tokens come from.
	ChunkTokens ChunkTokens `json:"chunk_tokens,omitempty"`
	// Streamed is false where the whole reply came as one body.
	Streamed bool `json:"streamed"`
	// Retokenized is the tokenizer's count of the reply's text.
	Retokenized Count `json:"retokenized,omitzero"`
	// Text is the reply (thinking, then answer); it leaves the process only when asked for. Its first Thinking bytes are
	// thinking.
	Text     string `json:"text,omitempty"`
	Thinking int    `json:"thinking,omitempty"`
	// Bytes is the size of the response body as received.
	Bytes int64 `json:"bytes,omitempty"`
	// Resent is true where the request was sent once more without a field the server refused.
	Resent bool `json:"resent,omitempty"`
	// Malformed counts events of an otherwise good reply that could not be read.
	Malformed int `json:"malformed,omitempty"`
	// Failure is nil for a success.
	Failure *Failure `json:"failure,omitempty"`
	// Cancelled is true where the user ended the run before the reply ended, or where the turn follows one that failed and was
	// not sent; it counts apart from failures.
	Cancelled bool `json:"cancelled,omitempty"`
}

// NewRecord returns a Record of request id in which nothing has happened yet.
func NewRecord(id int) Record {
	return Record{
		ID: id, Due: Never, Admitted: Never, Sent: Never, Written: Never, Header: Never, Done: Never,
		Connection: Connection{DialStart: Never, Connected: Never, TLSDone: Never},
	}
}

// OK reports whether the request succeeded.
func (r *Record) OK() bool { return r.Failure == nil && !r.Cancelled }

// FirstChunk returns when the first token arrived, or Never.
func (r *Record) FirstChunk() Instant {
	if len(r.Chunks) == 0 {
		return Never
	}
	return r.Chunks[0].At
}

// FirstAnswer returns when the first non-reasoning token arrived, or Never.
func (r *Record) FirstAnswer() Instant {
	for i := range r.Chunks {
		if r.Chunks[i].Channel != ChannelReasoning {
			return r.Chunks[i].At
		}
	}
	return Never
}

// LastChunk returns when the last token arrived, or Never.
func (r *Record) LastChunk() Instant {
	if len(r.Chunks) == 0 {
		return Never
	}
	return r.Chunks[len(r.Chunks)-1].At
}

// Fail marks the record as failed unless it already is; the first cause stays.
func (r *Record) Fail(kind FailureKind, message string) {
	if r.Failure == nil {
		r.Failure = &Failure{Kind: kind, Message: message}
	}
}

// Elapsed returns b−a where both happened.
func Elapsed(a, b Instant) (d time.Duration, ok bool) {
	if !a.Known() || !b.Known() {
		return 0, false
	}
	return b.Sub(a), true
}
