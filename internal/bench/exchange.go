package bench

import "net/http"

// Message is a Request in the bytes of a protocol, made before the clock starts.
type Message struct {
	// Path is appended to the base URL and starts with "/".
	Path   string
	Header http.Header
	Body   []byte
}

// Decoder turns the bytes of one reply into facts of one Record. The load engine calls Head once, Feed for each piece of
// the body as it was received, and End once; nothing after End. The bytes of Feed may be reused by the caller.
type Decoder interface {
	// Head takes the response head.
	Head(status int, header http.Header)
	// Feed takes body bytes received at one instant, and reports whether the reply's terminal event has been seen.
	Feed(p []byte, at Instant) (terminal bool)
	// End closes the reply: cause is nil after a clean end of the body or a terminal event, else why reading stopped.
	// It fills in the Record's usage, finish reason, text and, where success lacks evidence, its Failure.
	End(cause error)
}

// Protocol is how requests are asked and replies read.
type Protocol interface {
	// Encode renders a request; an error means that it cannot be asked in this protocol.
	Encode(r *Request) (Message, error)
	// Decoder returns the reader of one reply, writing to rec.
	Decoder(rec *Record) Decoder
	// Amend returns the message to send once more after a refusal that names a field the message can do without, if there
	// is one. body is the start of the refusal's body.
	Amend(m Message, status int, body []byte) (Message, bool)
}
