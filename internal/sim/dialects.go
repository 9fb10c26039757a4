package sim

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
)

// triton answers Triton's generate_stream: one event per step with the new text, no usage, no end marker.
func (s *Server) triton(w http.ResponseWriter, q *http.Request, f *Fault) {
	accepted := s.driver.now()
	var body struct {
		Text      *string      `json:"text_input"`
		MaxTokens *int         `json:"max_tokens"`
		MinLength int          `json:"min_length"`
		EndID     int          `json:"end_id"`
		Stop      stringOrList `json:"stop_words"`
		Stream    bool         `json:"stream"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, tritonError(e))
		return
	}
	if body.Text == nil {
		s.refuse(w, q, tritonError(badRequest("input 'text_input' is missing")))
		return
	}
	p := sampling{MaxTokens: body.MaxTokens, MinTokens: body.MinLength, Stop: body.Stop, Stream: true, IgnoreEOS: body.EndID >= s.vocab}
	if e := p.check(TRT); e != nil {
		s.refuse(w, q, tritonError(e))
		return
	}
	answers, e := s.answersFor([][]int{s.tok.Encode(*body.Text)}, &p, completionFallback)
	if e != nil {
		s.refuse(w, q, tritonError(e))
		return
	}
	r := s.newReply(accepted, &p, "", answers)
	r.stream = body.Stream || q.URL.Path[len(q.URL.Path)-1] == 'm'
	s.respond(w, q, f, r, &tritonDialect{model: q.PathValue("model")})
}

// tritonError is Triton's shape: {"error":"…"}.
func tritonError(e *apiError) *apiError {
	e.bare = true
	return e
}

type tritonDialect struct{ model string }

func (d *tritonDialect) begin(*sse, *reply, *answer)  {}
func (d *tritonDialect) finish(*sse, *reply, *answer) {}
func (d *tritonDialect) end(*sse, *reply)             {}
func (d *tritonDialect) fail(b *sse, words string)    { b.data(`{"error":"` + escape(words) + `"}`) }

func (d *tritonDialect) tokens(b *sse, _ *reply, a *answer, from, to int) {
	b.open()
	d.object(b, a.pieces[from:to])
	b.shut()
}

func (d *tritonDialect) object(b *sse, part []piece) {
	b.str(`{"model_name":"` + escape(d.model) + `","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":"`)
	b.text(part)
	b.str(`"}`)
}

func (d *tritonDialect) whole(r *reply) []byte {
	b := &sse{}
	d.object(b, r.answers[0].pieces)
	return b.buf
}

// tgiGenerate answers TGI's own /generate and /generate_stream.
func (s *Server) tgiGenerate(w http.ResponseWriter, q *http.Request, f *Fault) {
	accepted := s.driver.now()
	var body struct {
		Inputs     *string `json:"inputs"`
		Parameters struct {
			MaxNewTokens *int         `json:"max_new_tokens"`
			Stop         stringOrList `json:"stop"`
		} `json:"parameters"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, tritonError(e))
		return
	}
	if body.Inputs == nil {
		s.refuse(w, q, tritonError(badRequest("Input validation error: `inputs` is missing")))
		return
	}
	p := sampling{MaxTokens: body.Parameters.MaxNewTokens, Stop: body.Parameters.Stop}
	answers, e := s.answersFor([][]int{s.tok.Encode(*body.Inputs)}, &p, 100)
	if e != nil {
		s.refuse(w, q, tritonError(e))
		return
	}
	r := s.newReply(accepted, &p, "", answers)
	r.stream = q.URL.Path == "/generate_stream"
	s.respond(w, q, f, r, &tgiDialect{})
}

// tgiDialect writes one event for each token, also for those that left together; the last one carries the whole text.
type tgiDialect struct{}

func (d *tgiDialect) begin(*sse, *reply, *answer)  {}
func (d *tgiDialect) finish(*sse, *reply, *answer) {}
func (d *tgiDialect) end(*sse, *reply)             {}
func (d *tgiDialect) fail(b *sse, words string) {
	b.data(`{"error":"` + escape(words) + `","error_type":"generation"}`)
}

func (d *tgiDialect) tokens(b *sse, _ *reply, a *answer, from, to int) {
	for i := from; i < to; i++ {
		b.open()
		b.str(`{"index":`)
		b.num(i + 1)
		b.str(`,"token":{"id":`)
		b.num(a.pieces[i].id)
		b.str(`,"text":"` + a.pieces[i].esc + `","logprob":-0.5,"special":false},"generated_text":`)
		if i+1 == len(a.pieces) {
			b.str(`"`)
			b.text(a.pieces)
			b.str(`","details":`)
			d.details(b, a)
		} else {
			b.str(`null,"details":null`)
		}
		b.str(`}`)
		b.shut()
	}
}

func (d *tgiDialect) details(b *sse, a *answer) {
	reason := map[string]string{"length": "length", "stop": "eos_token"}[a.finish]
	if a.matched != "" {
		reason = "stop_sequence"
	}
	b.str(`{"finish_reason":"` + reason + `","generated_tokens":`)
	b.num(len(a.pieces))
	b.str(`,"seed":null,"input_length":`)
	b.num(a.promptTokens())
	b.str(`}`)
}

func (d *tgiDialect) whole(r *reply) []byte {
	b := &sse{}
	b.str(`{"generated_text":"`)
	b.text(r.answers[0].pieces)
	b.str(`","details":`)
	d.details(b, r.answers[0])
	b.str(`}`)
	return b.buf
}

// llamaCompletion answers llama.cpp's own /completion.
func (s *Server) llamaCompletion(w http.ResponseWriter, q *http.Request, f *Fault) {
	accepted := s.driver.now()
	var body struct {
		Prompt    json.RawMessage `json:"prompt"`
		NPredict  *int            `json:"n_predict"`
		Stop      stringOrList    `json:"stop"`
		IgnoreEOS bool            `json:"ignore_eos"`
		Stream    bool            `json:"stream"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	p := sampling{MaxTokens: body.NPredict, Stop: body.Stop, IgnoreEOS: body.IgnoreEOS, Stream: body.Stream}
	e := p.check(LlamaCpp)
	prompts, batch, err := s.prompts(body.Prompt)
	switch {
	case err != nil:
		e = badRequest("%v", err)
	case batch:
		e = badRequest("lists of prompts are not offered by this simulated server on this route")
	}
	if e != nil {
		s.refuse(w, q, e)
		return
	}
	answers, e := s.answersFor(prompts, &p, 0)
	if e != nil {
		s.refuse(w, q, e)
		return
	}
	s.respond(w, q, f, s.newReply(accepted, &p, "", answers), &llamaDialect{chatDialect: s.chatDialect()})
}

// llamaDialect writes llama.cpp's native events: the last one has stop:true and the timings.
type llamaDialect struct{ chatDialect }

func (d *llamaDialect) begin(*sse, *reply, *answer)        {}
func (d *llamaDialect) role(*sse, *reply, *answer)         {}
func (d *llamaDialect) end(*sse, *reply)                   {}
func (d *llamaDialect) finish(b *sse, r *reply, a *answer) { b.open(); d.last(b, r, a, nil); b.shut() }
func (d *llamaDialect) tokens(b *sse, _ *reply, a *answer, from, to int) {
	b.open()
	b.str(`{"index":0,"content":"`)
	b.text(a.pieces[from:to])
	b.str(`","tokens":`)
	b.idList(a.pieces[from:to])
	b.str(`,"stop":false,"id_slot":-1,"tokens_predicted":`)
	b.num(to)
	b.str(`,"tokens_evaluated":`)
	b.num(a.promptTokens())
	b.str(`}`)
	b.shut()
}

func (d *llamaDialect) last(b *sse, r *reply, a *answer, text []piece) {
	kind := map[string]string{"length": "limit", "stop": "eos"}[a.finish]
	if a.matched != "" {
		kind = "word"
	}
	b.str(`{"index":0,"content":"`)
	b.text(text)
	b.str(`","tokens":[],"id_slot":-1,"stop":true,"model":"` + escape(r.model) + `","tokens_predicted":`)
	b.num(len(a.pieces))
	b.str(`,"tokens_evaluated":`)
	b.num(a.promptTokens())
	b.str(`,"tokens_cached":`)
	b.num(a.cached())
	b.str(`,"stop_type":"` + kind + `","stopping_word":"` + escape(a.matched) + `","truncated":false`)
	writeTimings(b, r)
	b.str(`}`)
}

func (d *llamaDialect) whole(r *reply) []byte {
	b := &sse{}
	d.last(b, r, r.answers[0], r.answers[0].pieces)
	return b.buf
}

// vectorSize is the length of the embeddings.
const vectorSize = 64

// embeddings answers /v1/embeddings: each input runs through the engine as a prompt without output.
func (s *Server) embeddings(w http.ResponseWriter, q *http.Request, f *Fault) {
	accepted := s.driver.now()
	var body struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
		Form  string          `json:"encoding_format"`
	}
	if e := s.readBody(q, &body); e != nil {
		s.refuse(w, q, e)
		return
	}
	e := s.unknownModel(body.Model)
	prompts, _, err := s.prompts(body.Input)
	if e == nil && err != nil {
		e = badRequest("%v", err)
	}
	answers := make([]*answer, len(prompts))
	for i, ids := range prompts {
		if e == nil && len(ids) == 0 {
			e = badRequest("The input is empty.")
		}
		if e == nil {
			e = s.tooLong(len(ids), 0)
		}
		answers[i] = &answer{prompt: ids}
	}
	if e != nil {
		s.refuse(w, q, e)
		return
	}
	s.respond(w, q, f, s.newReply(accepted, &sampling{}, "embd-", answers), &embeddingDialect{base64: body.Form == "base64"})
}

// embeddingDialect writes vectors as numbers, or as base64 of little-endian 32-bit floats.
type embeddingDialect struct{ base64 bool }

func (embeddingDialect) begin(*sse, *reply, *answer)            {}
func (embeddingDialect) tokens(*sse, *reply, *answer, int, int) {}
func (embeddingDialect) finish(*sse, *reply, *answer)           {}
func (embeddingDialect) end(*sse, *reply)                       {}
func (embeddingDialect) fail(b *sse, words string) {
	b.data(`{"error":{"message":"` + escape(words) + `"}}`)
}

func (d embeddingDialect) whole(r *reply) []byte {
	b := &sse{}
	b.str(`{"id":"` + r.id + `","object":"list","model":"` + escape(r.model) + `","data":[`)
	for i, a := range r.answers {
		if i > 0 {
			b.str(",")
		}
		b.str(`{"object":"embedding","index":`)
		b.num(i)
		b.str(`,"embedding":`)
		d.vector(b, a.prompt)
		b.str(`}`)
	}
	prompt, _, _, _ := r.totals()
	b.str(`],"usage":{"prompt_tokens":`)
	b.num(prompt)
	b.str(`,"total_tokens":`)
	b.num(prompt)
	b.str(`,"completion_tokens":0,"prompt_tokens_details":null}}`)
	return b.buf
}

func (d embeddingDialect) vector(b *sse, ids []int) {
	v := vector(ids)
	if d.base64 {
		raw := make([]byte, 0, 4*vectorSize)
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
		b.str(`"` + base64.StdEncoding.EncodeToString(raw) + `"`)
		return
	}
	for k, x := range v {
		b.str(map[bool]string{true: "[", false: ","}[k == 0])
		b.buf = strconv.AppendFloat(b.buf, x, 'f', 6, 64)
	}
	b.str("]")
}

// vector is a unit vector that depends on the prompt alone.
func vector(ids []int) [vectorSize]float64 {
	var v [vectorSize]float64
	h, norm := hashIDs(0, ids), 0.0
	for k := range v {
		h = mix(h + uint64(k) + 1)
		v[k] = float64(h>>11)/(1<<52) - 1
		norm += v[k] * v[k]
	}
	for k := range v {
		v[k] /= math.Sqrt(norm)
	}
	return v
}
