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
	// Path is asked in place of the API's usual route; "" keeps that.
	Path   string
	Stream bool
	Body   bench.BodySpec
	// Dialect decides whose bodies are sent: vLLM's tool leaves sampling to the server, the others ask for greedy answers.
	Dialect bench.Dialect
	// Strict sends the bodies of the dialect's tool byte for byte.
	Strict bool
	// RequestIDPrefix, where not empty, is sent before the request's number in the header x-request-id.
	RequestIDPrefix string
	Auth            Auth
	// KeepText keeps the reply's text in the Record, for whoever counts or stores it.
	KeepText bool
	// Version is the program's, for the User-Agent header.
	Version string
}

// Endpoint is a bench.Protocol: one server's way to be asked.
type Endpoint struct {
	o     Options
	route route
	extra body // Options.Body.Extra
	head  http.Header
	hide  func(string) string
}

// New checks the options and returns the protocol.
func New(o Options) (*Endpoint, error) {
	r, ok := routeOf(o.API)
	if !ok {
		return nil, fmt.Errorf("unknown API %q; known are %s", o.API, known())
	}
	if r.named && o.Served == "" {
		return nil, fmt.Errorf("no model name to send: the server lists none and none was given; name one with --model or --served-model-name")
	}
	extra, err := parseBody(o.Body.Extra)
	if err != nil {
		return nil, fmt.Errorf("extra request body: %w", err)
	}
	o.Stream = !r.whole && (o.Stream || r.streams)
	e := &Endpoint{o: o, route: r, extra: extra, head: http.Header{}}
	e.head.Set("Content-Type", "application/json")
	if o.Stream {
		e.head.Set("Accept", "text/event-stream")
	} else {
		e.head.Set("Accept", "application/json")
	}
	e.head.Set("Accept-Encoding", "identity")
	e.head.Set("User-Agent", userAgent(o.Version))
	o.Auth.Apply(e.head)
	e.hide = o.Auth.hider()
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
	if e.o.Path != "" {
		return e.o.Path
	}
	return e.route.path
}

// Encode renders a request. Keys come in the order of SGLang's tool; a row's own Extra wins over the user's, and both
// win over everything else. The error says why this protocol cannot ask it.
func (e *Endpoint) Encode(r *bench.Request) (bench.Message, error) {
	row, err := parseBody(r.Extra)
	if err != nil {
		return bench.Message{}, fmt.Errorf("request %d: its own body fields are %w", r.ID, err)
	}
	if r.OutputTokens <= 0 && !e.o.Strict && !e.o.API.Pooling() {
		return bench.Message{}, fmt.Errorf("request %d asks for an answer of %s; a server needs at least 1", r.ID, bench.Number(r.OutputTokens, "token"))
	}
	extra := append(make(body, 0, len(e.extra)+len(row)+3), e.extra...)
	if e.o.Body.CacheDetails && !e.route.native && !e.o.API.Pooling() {
		extra.setBool("return_cached_tokens_details", true)
	}
	if e.o.Body.FakePrefill { // SGLang's own values for a prefill that never comes
		extra.setString("bootstrap_host", "2.2.2.2")
		extra.setInt("bootstrap_room", 0)
	}
	extra.merge(row)
	b, err := e.route.encode(e, r, extra)
	if err != nil {
		return bench.Message{}, fmt.Errorf("request %d: %w", r.ID, err)
	}
	head := e.head.Clone()
	if e.o.RequestIDPrefix != "" {
		head.Set("x-request-id", fmt.Sprintf("%s%d", e.o.RequestIDPrefix, r.ID))
	}
	if r.RoutingKey != "" {
		head.Set("X-SMG-Routing-Key", r.RoutingKey)
	}
	return bench.Message{Path: e.Path(), Header: head, Body: b.render(e.o.Strict)}, nil
}

// adapt asks for a row's LoRA adapter: by the model's name, as vLLM takes it, and by lora_path, as SGLang does.
func (e *Endpoint) adapt(b *body, r *bench.Request) {
	if r.Adapter == "" {
		return
	}
	b.setString("model", r.Adapter)
	if e.o.Dialect != bench.DialectVLLM {
		b.setString("lora_path", r.Adapter)
	}
}

// Decoder returns the reader of one reply.
func (e *Endpoint) Decoder(rec *bench.Record) bench.Decoder {
	return newDecoder(rec, decoderOptions{
		route: e.route, keepText: e.o.KeepText, url: e.o.BaseURL + e.Path(), hide: e.hide,
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
	case p.Texts != nil:
		return "several texts"
	}
	return "text"
}

// refuse says that a prompt of this kind cannot be asked here.
func (e *Endpoint) refuse(p bench.Prompt, instead string) error {
	return fmt.Errorf("%s cannot be sent to %s; %s", promptKind(p), e.Path(), instead)
}

// rawMessages returns a prompt's messages, checked to be one JSON value.
func rawMessages(p bench.Prompt) (json.RawMessage, error) {
	if !json.Valid(p.Messages) {
		return nil, fmt.Errorf("its messages are not JSON: %.60s", p.Messages)
	}
	return p.Messages, nil
}
