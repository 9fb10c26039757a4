package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

// Server is one simulated server: an engine on the real clock behind the routes of its flavour.
type Server struct {
	cfg    Config
	params engine.Params
	tok    prose.Tokenizer
	vocab  int
	// separator is the token between the two texts of a pair.
	separator int
	text      *prose.Writer
	driver    *driver
	truth     *truthLog
	mux       *http.ServeMux
	created   time.Time
	ids       atomic.Uint64
	asked     atomic.Uint64
	bodyLog   sync.Mutex
	manners   wire.Manners

	crashOnce sync.Once
	crashed   chan struct{}
}

// New checks the configuration and returns a server that is ready to answer; it owns no goroutine while no request is live.
func New(c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	eng, err := engine.New(c.engineParams())
	if err != nil {
		return nil, err
	}
	tok, vocab, err := prose.Builtin()
	if err != nil {
		return nil, err
	}
	text, err := prose.NewWriter(tok)
	if err != nil {
		return nil, err
	}
	end := tok.Encode("<|endoftext|>")
	if len(end) != 1 {
		return nil, fmt.Errorf("the built-in tokenizer has %d tokens for its end mark instead of one", len(end))
	}
	s := &Server{cfg: c, params: eng.Params(), tok: tok, vocab: vocab, separator: end[0], text: text, driver: newDriver(eng), truth: newTruthLog(c.TruthRequests, c.Flavour), created: time.Now(),
		manners: wire.MannersOf(c.Flavour), crashed: make(chan struct{})}
	eng.OnStep(s.truth.step)
	s.mux = s.routes()
	return s, nil
}

// Handler serves every route of the flavour.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// idleTimeout is how long an idle connection is kept, as uvicorn does, which most real servers stand behind.
const idleTimeout = 5 * time.Second

// Serve answers on l until ctx ends; streams under way are then cut, and nil is returned once every goroutine is gone.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 30 * time.Second, IdleTimeout: idleTimeout, BaseContext: func(net.Listener) context.Context { return base }}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	var err error
	select {
	case err = <-ended:
	case <-s.crashed:
		cut()
		_ = h.Close()
		<-ended
		err = ErrCrashed
	case <-ctx.Done():
		cut()
		grace, cancel := context.WithTimeout(base, time.Second)
		if h.Shutdown(grace) != nil {
			err = h.Close()
		}
		cancel()
		<-ended
	}
	s.driver.wait()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("simulated server on %s: %w", l.Addr(), err)
	}
	return nil
}

func (s *Server) serve(w http.ResponseWriter, q *http.Request) {
	if !s.authorised(q) {
		s.unauthorised(w)
		return
	}
	_, pattern := s.mux.Handler(q)
	if pattern == "" {
		s.lost(w, q)
		return
	}
	s.mux.ServeHTTP(w, q)
}

func (s *Server) unauthorised(w http.ResponseWriter) {
	if s.cfg.Flavour == LlamaCpp {
		writeJSON(w, http.StatusUnauthorized, (&wire.Error{Status: http.StatusUnauthorized, Message: "Invalid API Key"}).Body(LlamaCpp))
		return
	}
	writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "Unauthorized"})
}

// lost answers for a path or method that the flavour does not have.
func (s *Server) lost(w http.ResponseWriter, q *http.Request) {
	status, words := http.StatusNotFound, "Not Found"
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := q.Clone(q.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); method != q.Method && pattern != "" {
			status, words = http.StatusMethodNotAllowed, "Method Not Allowed"
		}
	}
	if s.cfg.Flavour == LlamaCpp {
		writeJSON(w, http.StatusNotFound, (&wire.Error{Status: http.StatusNotFound, Message: "File Not Found"}).Body(LlamaCpp))
		return
	}
	writeJSON(w, status, map[string]string{"detail": words})
}

// maxBody bounds a request body; a prompt of a million tokens is about 5 MB.
const maxBody = 256 << 20

// readBody reads one JSON object, and logs it when asked to.
func (s *Server) readBody(q *http.Request, into any) *wire.Error {
	raw, err := io.ReadAll(io.LimitReader(q.Body, maxBody))
	if err != nil {
		return badRequest("The request body could not be read: %v", err)
	}
	if err := s.logBody(q.URL.Path, raw); err != nil {
		return &wire.Error{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: err.Error()}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return badRequest("The request body is not valid: %v", err)
	}
	return nil
}

// logBody writes one line {"path":…,"body":…}: the body byte for byte where it is JSON without line breaks, compacted where it
// has some, a string where it is no JSON.
func (s *Server) logBody(path string, raw []byte) error {
	if s.cfg.LogBodies == nil {
		return nil
	}
	body := bytes.TrimSpace(raw)
	switch {
	case !json.Valid(body):
		text, err := json.Marshal(string(raw))
		if err != nil {
			return err
		}
		body = text
	case bytes.ContainsAny(body, "\r\n"):
		var b bytes.Buffer
		if err := json.Compact(&b, body); err != nil {
			return err
		}
		body = b.Bytes()
	}
	s.bodyLog.Lock()
	defer s.bodyLog.Unlock()
	if _, err := fmt.Fprintf(s.cfg.LogBodies, "{\"path\":%q,\"body\":%s}\n", path, body); err != nil {
		return fmt.Errorf("logging the request: %w", err)
	}
	return nil
}

// newReply starts the answer of one HTTP request.
func (s *Server) newReply(accepted time.Duration, p *sampling, prefix string, answers []*answer) *reply {
	n := s.ids.Add(1)
	r := &reply{accepted: accepted, answers: answers, stream: p.Stream, interval: max(p.Interval, s.cfg.TokensPerChunk, 1)}
	r.Reply = wire.Reply{
		ID: fmt.Sprintf("%s%016x%016x", prefix, prose.Mix(n^s.cfg.Seed), prose.Mix(^n)), Created: s.created.Add(accepted).Unix(), Model: s.cfg.ServedModel,
		TokenIDs: p.ReturnIDs, ReportCache: s.reportsCache(), Speculative: s.params.SpecDepth > 0,
		Elapsed: func() time.Duration { return s.driver.now() - accepted },
	}
	if p.model != "" {
		r.Model = p.model
	}
	if !s.manners.IDPrefix {
		r.ID = r.ID[len(prefix):]
	}
	if s.params.PrefixCache {
		r.pageSize = s.params.PageSize
	}
	if o := p.StreamOptions; o != nil {
		r.Usage = o.IncludeUsage
		r.Continuous = o.ContinuousUsageStats && (o.IncludeUsage || s.cfg.Flavour == SGLang)
	}
	switch s.cfg.Usage {
	case UsageNever:
		r.Usage, r.Continuous = false, false
	case UsageAlways:
		r.Usage = true
	case UsageEveryChunk:
		r.Usage, r.Continuous = true, true
	}
	return r
}

func (s *Server) contextLen() int { return min(s.cfg.MaxModelLen, s.roomPerRequest()) }

// roomPerRequest is the most tokens the engine can hold for one request.
func (s *Server) roomPerRequest() int {
	switch s.params.Schedule {
	case engine.Independent:
		return s.cfg.MaxModelLen
	case engine.Slots:
		return s.params.KVTokens / s.params.PageSize / s.params.MaxSeqs * s.params.PageSize
	}
	return s.params.KVTokens / s.params.PageSize * s.params.PageSize
}

// reportsCache says whether usage carries the cached prompt tokens: always with some flavours, else with the prefix cache on.
func (s *Server) reportsCache() bool { return s.manners.CacheAlways || s.params.PrefixCache }

func (s *Server) streamType() string {
	if s.cfg.Flavour == LlamaCpp {
		return "text/event-stream"
	}
	return "text/event-stream; charset=utf-8"
}
