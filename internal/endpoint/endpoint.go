package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// Options say how requests are rendered and replies read.
type Options struct {
	API    bench.API
	Served bench.ServedModel
	// Engine is what serves, where known; it decides which spelling of a field is sent.
	Engine bench.Engine
	// BaseURL is scheme://host[:port][/prefix]; it is shown in the message of a 404 and tells OpenAI's own hosts.
	BaseURL string
	Stream  bool
	Body    bench.BodySpec
	// Strict sends the bodies of SGLang's tool byte for byte.
	Strict bool
	Auth   Auth
	// KeepText keeps the reply's text in the Record, for whoever counts or stores it.
	KeepText bool
	// Version is the program's, for the User-Agent header.
	Version string
}

// Endpoint is a bench.Protocol: SGLang's or OpenAI's way to ask for text.
type Endpoint struct {
	o     Options
	extra body // Options.Body.Extra
	head  http.Header
}

// New checks the options and returns the protocol.
func New(o Options) (*Endpoint, error) {
	switch o.API {
	case bench.APIChat, bench.APICompletions:
		if o.Served == "" {
			return nil, fmt.Errorf("no model name to send: the server lists none and none was given; name one with --model or --served-model-name")
		}
	case bench.APIGenerate:
	default:
		return nil, fmt.Errorf("unknown API %q; known are %s, %s and %s", o.API, bench.APIChat, bench.APICompletions, bench.APIGenerate)
	}
	extra, err := parseBody(o.Body.Extra)
	if err != nil {
		return nil, fmt.Errorf("extra request body: %w", err)
	}
	e := &Endpoint{o: o, extra: extra, head: http.Header{}}
	e.head.Set("Content-Type", "application/json")
	if o.Stream {
		e.head.Set("Accept", "text/event-stream")
	} else {
		e.head.Set("Accept", "application/json")
	}
	e.head.Set("Accept-Encoding", "identity")
	e.head.Set("User-Agent", userAgent(o.Version))
	o.Auth.Apply(e.head)
	return e, nil
}

// userAgent is the program's name and version for HTTP.
func userAgent(version string) string {
	if version == "" {
		version = "devel"
	}
	return "servemark/" + version
}

// Path returns the route that is asked, to be appended to the base URL.
func (e *Endpoint) Path() string {
	switch e.o.API {
	case bench.APIChat:
		return "/v1/chat/completions"
	case bench.APICompletions:
		return "/v1/completions"
	}
	return "/generate"
}

// Encode renders a request. Keys come in the order of SGLang's tool; a row's own Extra wins over the user's, and both
// win over everything else. The error says why this protocol cannot ask it.
func (e *Endpoint) Encode(r *bench.Request) (bench.Message, error) {
	row, err := parseBody(r.Extra)
	if err != nil {
		return bench.Message{}, fmt.Errorf("request %d: its own body fields are %w", r.ID, err)
	}
	if r.OutputTokens <= 0 && !e.o.Strict {
		return bench.Message{}, fmt.Errorf("request %d asks for %d output tokens; a server needs at least 1", r.ID, r.OutputTokens)
	}
	extra := append(make(body, 0, len(e.extra)+len(row)+3), e.extra...)
	if e.o.Body.CacheDetails && e.o.API != bench.APIGenerate {
		extra.setBool("return_cached_tokens_details", true)
	}
	if e.o.Body.FakePrefill { // SGLang's own values for a prefill that never comes
		extra.setString("bootstrap_host", "2.2.2.2")
		extra.setInt("bootstrap_room", 0)
	}
	extra.merge(row)
	var b body
	switch e.o.API {
	case bench.APIChat:
		b, err = e.chatBody(r, extra)
	case bench.APICompletions:
		b, err = e.completionsBody(r, extra)
	default:
		b, err = e.generateBody(r, extra)
	}
	if err != nil {
		return bench.Message{}, fmt.Errorf("request %d: %w", r.ID, err)
	}
	return bench.Message{Path: e.Path(), Header: e.head.Clone(), Body: b.render(e.o.Strict)}, nil
}

// Decoder returns the reader of one reply.
func (e *Endpoint) Decoder(rec *bench.Record) bench.Decoder {
	return newDecoder(rec, decoderOptions{
		native: e.o.API == bench.APIGenerate, keepText: e.o.KeepText, url: e.o.BaseURL + e.Path(),
	})
}

// usageOptions is the value that Encode gives stream_options.
const usageOptions = `{"include_usage":true}`

// Amend drops stream_options after a 400 or 422 that names it, unless the user wrote it.
func (e *Endpoint) Amend(m bench.Message, status int, refusal []byte) (bench.Message, bool) {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity || !bytes.Contains(refusal, []byte("stream_options")) {
		return m, false
	}
	b, err := parseBody(m.Body)
	if err != nil {
		return m, false
	}
	for i := range b {
		if b[i].key == "stream_options" && string(b[i].raw) == usageOptions {
			m.Body = append(b[:i:i], b[i+1:]...).render(false)
			return m, true
		}
	}
	return m, false
}

// openAIHost reports whether the base URL is OpenAI's own cloud, whose servers refuse fields they do not know.
func (e *Endpoint) openAIHost() bool {
	u, err := url.Parse(e.o.BaseURL)
	if err != nil {
		return false
	}
	h := strings.ToLower(u.Hostname())
	return h == "api.openai.com" || strings.HasSuffix(h, ".openai.azure.com")
}

// promptKind names what a prompt holds, for messages to the user.
func promptKind(p bench.Prompt) string {
	switch {
	case p.Messages != nil:
		return "chat messages"
	case p.IDs != nil:
		return "token ids"
	}
	return "text"
}

// rawMessages returns a prompt's messages, checked to be one JSON value.
func rawMessages(p bench.Prompt) (json.RawMessage, error) {
	if !json.Valid(p.Messages) {
		return nil, fmt.Errorf("its messages are not JSON: %.60s", p.Messages)
	}
	return p.Messages, nil
}
