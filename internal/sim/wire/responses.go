package wire

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/servemark/servemark/internal/sim/prose"
)

// Responses writes the events of OpenAI's Responses API, numbered and named, with the manners of SGLang or vLLM. It serves one
// reply. Its last event carries the whole response with usage; there is no [DONE].
type Responses struct {
	Manners
	// Echo are the members of the response that repeat what was asked.
	Echo map[string]any
	// Summary sends the reasoning as a summary; NoUsage leaves usage out.
	Summary bool
	NoUsage bool

	reply *Reply
	seq   int
	items int    // output items closed so far, the index of the open one
	open  itemOf // what is open
}

// itemOf says what an output item holds.
type itemOf uint8

const (
	itemNone itemOf = iota
	itemReasoning
	itemMessage
	itemCall
)

// kindAt is what the i-th token of an answer belongs to.
func kindAt(a *Answer, i int) itemOf {
	switch {
	case a.Tool != nil:
		return itemCall
	case i < a.Think:
		return itemReasoning
	}
	return itemMessage
}

// span is the tokens of an item.
func (k itemOf) span(a *Answer) (from, to int) {
	switch k {
	case itemReasoning:
		return 0, a.Think
	case itemMessage:
		return a.Think, len(a.Pieces)
	}
	return 0, len(a.Pieces)
}

// event writes one event; members get its type and number.
func (d *Responses) event(b *SSE, name string, members map[string]any) {
	members["type"], members["sequence_number"] = name, d.seq
	payload, err := json.Marshal(members)
	if err != nil { // strings, numbers and what was JSON before: cannot happen
		return
	}
	d.seq++
	b.named(name)
	b.buf = append(b.buf, payload...)
	b.shut()
}

// Open writes the two events that leave when the request is accepted, long before any token.
func (d *Responses) Open(b *SSE, r *Reply) {
	d.reply = r
	for _, name := range []string{"response.created", "response.in_progress"} {
		d.event(b, name, map[string]any{"response": d.object(r, "in_progress", []any{}, nil)})
	}
}

// Begin writes nothing: an item opens with its first text.
func (d *Responses) Begin(*SSE, *Reply, *Answer) {}

// Tokens writes one delta, or two where the reasoning ends among the tokens; none where there is no text yet.
func (d *Responses) Tokens(b *SSE, _ *Reply, a *Answer, from, to int) {
	if from < a.Think && to > a.Think {
		d.Tokens(b, nil, a, from, a.Think)
		from = a.Think
	}
	if blank(a.Pieces[from:to]) {
		return
	}
	if kind := kindAt(a, from); kind != d.open {
		d.close(b, a)
		d.start(b, a, kind)
	}
	d.delta(b, a.Pieces[from:to])
}

// place are the members that say where an event belongs.
func (d *Responses) place() map[string]any {
	m := map[string]any{"item_id": d.itemID(d.open, d.items), "output_index": d.items}
	switch {
	case d.summed():
		m["summary_index"] = 0
	case d.open != itemCall:
		m["content_index"] = 0
	}
	return m
}

func (d *Responses) summed() bool { return d.open == itemReasoning && d.Summary }

func (d *Responses) itemID(k itemOf, index int) string {
	prefix := map[itemOf]string{itemReasoning: "rs_", itemMessage: "msg_", itemCall: "fc_"}[k]
	return prefix + strings.TrimPrefix(d.reply.ID, "resp_") + strconv.Itoa(index)
}

// stem is the event family of the open item's text.
func (d *Responses) stem() string {
	switch {
	case d.summed():
		return "response.reasoning_summary_text"
	case d.open == itemReasoning:
		return "response.reasoning_text"
	case d.open == itemCall:
		return "response.function_call_arguments"
	}
	return "response.output_text"
}

// delta is written by hand, since there is one for every step.
func (d *Responses) delta(b *SSE, part []prose.Piece) {
	name := d.stem() + ".delta"
	b.named(name)
	b.str(`{`)
	if d.open != itemCall && !d.summed() {
		b.str(`"content_index":0,`)
	}
	b.str(`"delta":"`)
	b.text(part)
	b.str(`","item_id":"` + d.itemID(d.open, d.items) + `",`)
	if d.open == itemMessage {
		b.str(`"logprobs":[],`)
	}
	b.str(`"output_index":`)
	b.num(d.items)
	b.str(`,"sequence_number":`)
	b.num(d.seq)
	if d.summed() {
		b.str(`,"summary_index":0`)
	}
	b.str(`,"type":"` + name + `"}`)
	b.shut()
	d.seq++
}

// start opens an item, and the part of it that will hold text.
func (d *Responses) start(b *SSE, a *Answer, k itemOf) {
	d.open = k
	d.event(b, "response.output_item.added", map[string]any{"output_index": d.items, "item": d.item(a, k, d.items, false)})
	if k == itemCall {
		return
	}
	m := d.place()
	m["part"] = d.part(k, "")
	d.event(b, d.partStem()+".added", m)
}

func (d *Responses) partStem() string {
	if d.summed() {
		return "response.reasoning_summary_part"
	}
	return "response.content_part"
}

// close repeats the open item's text in its three twins, and counts the item.
func (d *Responses) close(b *SSE, a *Answer) {
	if d.open == itemNone {
		return
	}
	from, to := d.open.span(a)
	text := a.Text(from, to)
	m := d.place()
	if d.open == itemCall {
		m["arguments"], m["name"] = text, a.Tool.Name
	} else {
		m["text"] = text
	}
	if d.open == itemMessage {
		m["logprobs"] = []any{}
	}
	d.event(b, d.stem()+".done", m)
	if d.open != itemCall {
		m := d.place()
		m["part"] = d.part(d.open, text)
		d.event(b, d.partStem()+".done", m)
	}
	d.event(b, "response.output_item.done", map[string]any{"output_index": d.items, "item": d.item(a, d.open, d.items, true)})
	d.items++
	d.open = itemNone
}

// part is one part of an item's content.
func (d *Responses) part(k itemOf, text string) map[string]any {
	switch {
	case k == itemReasoning && d.Summary:
		return map[string]any{"type": "summary_text", "text": text}
	case k == itemReasoning:
		return map[string]any{"type": "reasoning_text", "text": text}
	}
	part := map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	if d.Flavour == SGLang {
		part["logprobs"] = nil
	}
	return part
}

// item is an output item as it opens, empty, or as it ends, whole.
func (d *Responses) item(a *Answer, k itemOf, index int, done bool) map[string]any {
	m := map[string]any{"id": d.itemID(k, index), "status": "in_progress"}
	from, to := k.span(a)
	text := a.Text(from, to)
	content := []any{}
	if done {
		m["status"] = "completed"
	} else {
		text = ""
	}
	switch k {
	case itemCall:
		m["type"], m["call_id"], m["name"], m["arguments"] = "function_call", a.Tool.ID, a.Tool.Name, text
	case itemReasoning:
		m["type"], m["summary"], m["encrypted_content"] = "reasoning", []any{}, nil
		if done {
			content = []any{map[string]any{"type": "reasoning_text", "text": text}}
			if d.Summary {
				m["summary"] = []any{d.part(k, text)}
			}
		}
		m["content"] = content
	default:
		if done {
			content = []any{d.part(k, text)}
		}
		m["type"], m["role"], m["content"], m["phase"] = "message", "assistant", content, nil
		if d.Flavour == SGLang {
			m["phase"] = "final_answer"
		}
	}
	return m
}

// Finish closes the item that is open.
func (d *Responses) Finish(b *SSE, _ *Reply, a *Answer) { d.close(b, a) }

// End writes the last event. SGLang names it after the status; vLLM's is called completed also where the limit ended the answer.
func (d *Responses) End(b *SSE, r *Reply) {
	status := statusOf(r.Answers[0])
	name := "response.completed"
	if d.Flavour == SGLang {
		name = "response." + status
	}
	d.event(b, name, map[string]any{"response": d.whole(r)})
}

func statusOf(a *Answer) string {
	if a.Finish == "length" {
		return "incomplete"
	}
	return "completed"
}

// Fail writes the event that ends a response which failed in mid-stream.
func (d *Responses) Fail(b *SSE, words string) {
	o := d.object(d.reply, "failed", []any{}, nil)
	o["error"] = map[string]any{"code": "server_error", "message": words}
	d.event(b, "response.failed", map[string]any{"response": o})
}

// Whole is the response object.
func (d *Responses) Whole(r *Reply) []byte {
	d.reply = r
	body, err := json.Marshal(d.whole(r))
	if err != nil { // as in event
		return nil
	}
	return body
}

func (d *Responses) whole(r *Reply) map[string]any {
	a, output := r.Answers[0], []any{}
	for _, k := range []itemOf{itemReasoning, itemMessage, itemCall} {
		from, to := k.span(a)
		if (k == itemCall) == (a.Tool != nil) && !blank(a.Pieces[from:to]) {
			output = append(output, d.item(a, k, len(output), true))
		}
	}
	if d.NoUsage {
		return d.object(r, statusOf(a), output, nil)
	}
	return d.object(r, statusOf(a), output, d.account(r))
}

// object is the response with what is known of it so far.
func (d *Responses) object(r *Reply, status string, output []any, usage map[string]any) map[string]any {
	o := maps.Clone(d.Echo)
	if o == nil {
		o = map[string]any{}
	}
	o["id"], o["object"], o["created_at"], o["model"] = r.ID, "response", r.Created, r.Model
	o["status"], o["output"], o["error"], o["incomplete_details"], o["usage"] = status, output, nil, nil, nil
	if usage != nil {
		o["usage"] = usage
	}
	if status == "incomplete" {
		o["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	}
	return o
}

// account is the usage. SGLang tells cached tokens where it reports the cache, vLLM always.
func (d *Responses) account(r *Reply) map[string]any {
	prompt, done, cached, think := r.totals()
	in, out := map[string]any{"cached_tokens": cached}, map[string]any{"reasoning_tokens": think}
	if d.Flavour == SGLang {
		in["cache_write_tokens"] = 0
		if !r.ReportCache {
			in["cached_tokens"] = 0
		}
	} else {
		none := []int{}
		in["input_tokens_per_turn"], in["cached_tokens_per_turn"] = none, none
		out["tool_output_tokens"], out["output_tokens_per_turn"], out["tool_output_tokens_per_turn"] = 0, none, none
	}
	return map[string]any{"input_tokens": prompt, "input_tokens_details": in, "output_tokens": done, "output_tokens_details": out, "total_tokens": prompt + done}
}
