package sim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// generateBody is the request of SGLang's /generate; text and input_ids may be lists.
type generateBody struct {
	Text     json.RawMessage `json:"text"`
	InputIDs json.RawMessage `json:"input_ids"`
	Params   struct {
		MaxNewTokens *int         `json:"max_new_tokens"`
		MinNewTokens int          `json:"min_new_tokens"`
		IgnoreEOS    bool         `json:"ignore_eos"`
		Stop         stringOrList `json:"stop"`
		Temperature  *float64     `json:"temperature"`
		TopP         *float64     `json:"top_p"`
		N            *int         `json:"n"`
		Interval     int          `json:"stream_interval"`
	} `json:"sampling_params"`
	Stream bool            `json:"stream"`
	RID    json.RawMessage `json:"rid"`
}

// generateFallback is SGLang's output limit when the client names none.
const generateFallback = 128

func (s *Server) generate(w http.ResponseWriter, q *http.Request, f *Fault) {
	accepted := s.driver.now()
	var body generateBody
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	p := sampling{MaxTokens: body.Params.MaxNewTokens, MinTokens: body.Params.MinNewTokens, IgnoreEOS: body.Params.IgnoreEOS, Stop: body.Params.Stop,
		Temperature: body.Params.Temperature, TopP: body.Params.TopP, N: body.Params.N, Stream: body.Stream, Interval: body.Params.Interval}
	if e := p.check(s.cfg.Flavour); e != nil {
		s.refuse(w, q, generateError(e))
		return
	}
	raw := body.Text
	if len(raw) == 0 || string(raw) == "null" {
		raw = body.InputIDs
	}
	prompts, batch, err := s.prompts(raw)
	if err != nil {
		s.refuse(w, q, generateError(badRequest("%v", err)))
		return
	}
	answers, e := s.answersFor(prompts, &p, generateFallback)
	if e != nil {
		s.refuse(w, q, generateError(e))
		return
	}
	r := s.newReply(accepted, &p, "", answers)
	r.batch = batch
	var rid string
	if json.Unmarshal(body.RID, &rid) == nil && rid != "" {
		r.id = rid
	}
	s.respond(w, q, f, r, &generateDialect{server: s, cumulative: true})
}

// generateError puts the error in the shape of the native route: the message alone inside "error".
func generateError(e *apiError) *apiError {
	e.native = true
	return e
}

// generateDialect writes SGLang's native frames: by default text and ids from the beginning of the answer every time.
type generateDialect struct {
	server     *Server
	cumulative bool
}

func (d *generateDialect) begin(*sse, *reply, *answer)  {}
func (d *generateDialect) finish(*sse, *reply, *answer) {}
func (d *generateDialect) end(b *sse, _ *reply)         { b.data("[DONE]") }

func (d *generateDialect) fail(b *sse, words string) {
	b.data(`{"error":{"message":"` + escape(words) + `"}}`)
	b.data("[DONE]")
}

func (d *generateDialect) tokens(b *sse, r *reply, a *answer, from, to int) {
	if d.cumulative {
		from = 0
	}
	b.open()
	d.object(b, r, a, from, to)
	b.shut()
}

func (d *generateDialect) object(b *sse, r *reply, a *answer, from, to int) {
	part := a.pieces[from:to]
	b.str(`{"text":"`)
	b.text(part)
	b.str(`","output_ids":`)
	b.idList(part)
	b.str(`,"meta_info":{"id":"` + escape(r.id) + `"`)
	switch {
	case to < len(a.pieces):
		b.str(`,"finish_reason":null`)
	case a.finish == "length":
		b.str(`,"finish_reason":{"type":"length","length":`)
		b.num(to)
		b.str(`}`)
	case a.matched != "":
		b.str(`,"finish_reason":{"type":"stop","matched":"` + escape(a.matched) + `"}`)
	default:
		b.str(`,"finish_reason":{"type":"stop","matched":0}`)
	}
	b.str(`,"prompt_tokens":`)
	b.num(a.promptTokens())
	b.str(`,"completion_tokens":`)
	b.num(to)
	b.str(`,"cached_tokens":`)
	b.num(a.cached())
	b.str(`,"weight_version":"default","num_retractions":`)
	b.num(a.latest.Preemptions)
	if to == len(a.pieces) {
		b.str(`,"e2e_latency":`)
		b.num6(d.server.driver.now() - r.accepted)
		if d.server.params.SpecDepth > 0 { // the first token comes from the prompt, not from a verification
			b.str(`,"spec_verify_ct":`)
			b.num(a.steps - 1)
			b.str(`,"spec_accept_length":`)
			b.buf = strconv.AppendFloat(b.buf, float64(to-1)/float64(max(a.steps-1, 1)), 'f', 4, 64)
		}
	}
	if r.batch {
		b.str(`},"index":`)
		b.num(a.index)
		b.str(`}`)
		return
	}
	b.str(`}}`)
}

func (d *generateDialect) whole(r *reply) []byte {
	b := &sse{}
	if r.batch {
		b.str("[")
	}
	for i, a := range r.answers {
		if i > 0 {
			b.str(",")
		}
		d.object(b, r, a, 0, len(a.pieces))
	}
	if r.batch {
		b.str("]")
	}
	return b.buf
}

// num6 writes a duration as seconds with six decimals.
func (b *sse) num6(t time.Duration) {
	us := max(int64(t/time.Microsecond), 0)
	b.num(int(us / 1e6))
	b.str(".")
	frac := us % 1e6
	for div := int64(1e5); div > 0; div /= 10 {
		b.buf = append(b.buf, byte('0'+frac/div%10))
	}
}
