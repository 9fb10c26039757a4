// Package flood is a server for finding the limits of clients: one event loop on raw sockets that sends pre-rendered events on
// absolute deadlines, many times faster than a server that renders its answers. It needs Linux; see docs/sim.md for its ceiling.
package flood

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/servemark/servemark/internal/sim/lateness"
)

// Config describes the flood. The zero value sends every event at once.
type Config struct {
	// ServedModel is the id in /v1/models and in the events; empty is "flood".
	ServedModel string
	// TTFT is the time from the request to its first event, ITL from write to write, on absolute deadlines; 0 sends as fast
	// as the sockets take it.
	TTFT time.Duration
	ITL  time.Duration
	// Tokens is the length of answers whose request names no limit; 0 is 128. Each token is the word " the".
	Tokens int
	// PerEvent tokens stand in one event, PerWrite events leave in one write; 0 is 1.
	PerEvent int
	PerWrite int
	// Align moves every deadline up to a common grid of ITL, so that all streams speak at the same instants, as an engine's do.
	Align bool
}

// Validate reports every fault at once.
func (c Config) Validate() error {
	var errs []error
	for name, v := range map[string]int64{"TTFT": int64(c.TTFT), "ITL": int64(c.ITL), "tokens": int64(c.Tokens), "tokens per event": int64(c.PerEvent), "events per write": int64(c.PerWrite)} {
		if v < 0 {
			errs = append(errs, fmt.Errorf("flood: %s must not be negative", name))
		}
	}
	if c.Align && c.ITL == 0 {
		errs = append(errs, errors.New("flood: alignment needs an ITL to align to"))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	if c.ServedModel == "" {
		c.ServedModel = "flood"
	}
	if c.Tokens == 0 {
		c.Tokens = 128
	}
	c.PerEvent, c.PerWrite = max(c.PerEvent, 1), max(c.PerWrite, 1)
	return c
}

// Stats are the counts since the start or the last POST /sim/reset.
type Stats struct {
	Streams int `json:"streams"`
	Active  int `json:"active"`
	Peak    int `json:"peak_active"`
	Events  int `json:"events"`
	Tokens  int `json:"tokens"`
	Writes  int `json:"writes"`
	// Stalls counts writes that a client's full socket held back; those say something about the client, not the server.
	Stalls int `json:"stalls"`
	// Late is deadline to just before the write; empty without an ITL.
	Late lateness.Report `json:"late"`
	// Busy is the time from the first to the last event.
	Busy time.Duration `json:"busy_ns"`
}

// kind is the protocol of a stream.
type kind uint8

const (
	chat kind = iota
	completion
	native
	kinds
)

// frames are the events of one kind, rendered once, with their chunked framing around them.
type frames struct {
	head   []byte // response head
	first  []byte // before the first token: the role chunk of chat
	full   []byte // PerWrite full events
	event  int    // length of one of them
	finish []byte // finish reason, when it comes apart
	end    []byte // end marker and last chunk
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunk(dst []byte, payload string) []byte {
	dst = strconv.AppendInt(dst, int64(len(payload)), 16)
	return append(append(append(dst, "\r\n"...), payload...), "\r\n"...)
}

// render makes the frames of a kind. Native events are not cumulative: a flood is about events, not about bytes.
func render(c Config, k kind) *frames {
	model, err := json.Marshal(c.ServedModel)
	if err != nil {
		model = []byte(`""`)
	}
	f := &frames{head: []byte(streamHead)}
	one := chunk(nil, event(k, string(model), words(c.PerEvent), "null", c.PerEvent))
	f.event = len(one)
	for range c.PerWrite {
		f.full = append(f.full, one...)
	}
	if k == chat {
		f.first = chunk(nil, "data: {\"id\":\"flood\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":"+string(model)+
			",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n")
	}
	if k != native {
		f.finish = chunk(nil, event(k, string(model), "", `"length"`, 0))
	}
	f.end = append(chunk(nil, "data: [DONE]\n\n"), "0\r\n\r\n"...)
	return f
}

func words(n int) string {
	b := make([]byte, 0, 4*n)
	for range n {
		b = append(b, " the"...)
	}
	return string(b)
}

func event(k kind, model, text, finish string, tokens int) string {
	switch k {
	case chat:
		delta := `{"content":"` + text + `"}`
		if tokens == 0 {
			delta = `{}`
		}
		return `data: {"id":"flood","object":"chat.completion.chunk","created":0,"model":` + model + `,"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
	case completion:
		return `data: {"id":"flood","object":"text_completion","created":0,"model":` + model + `,"choices":[{"index":0,"text":"` + text + `","finish_reason":` + finish + "}]}\n\n"
	}
	return `data: {"text":"` + text + `","meta_info":{"id":"flood","finish_reason":` + finish + `,"completion_tokens":` + strconv.Itoa(tokens) + "}}\n\n"
}

// usage is the usage-only event of a finished stream.
func usage(k kind, model string, prompt, tokens int) string {
	object := map[kind]string{chat: "chat.completion.chunk", completion: "text_completion"}[k]
	return fmt.Sprintf("data: {\"id\":\"flood\",\"object\":%q,\"created\":0,\"model\":%q,\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"total_tokens\":%d,\"completion_tokens\":%d}}\n\n",
		object, model, prompt, prompt+tokens, tokens)
}

// ask is what a flood reads of a request's body.
type ask struct {
	Stream    bool `json:"stream"`
	MaxTokens int  `json:"max_tokens"`
	MaxNew    int  `json:"max_completion_tokens"`
	Options   struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Params struct {
		MaxNewTokens int `json:"max_new_tokens"`
	} `json:"sampling_params"`
}

func (a *ask) tokens(fallback int) int {
	for _, n := range []int{a.MaxNew, a.MaxTokens, a.Params.MaxNewTokens} {
		if n > 0 {
			return n
		}
	}
	return fallback
}

// whole is the body of a reply that is not streamed.
func whole(k kind, model string, prompt, tokens int) string {
	text := words(tokens)
	counts := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, prompt, prompt+tokens, tokens)
	switch k {
	case chat:
		return fmt.Sprintf(`{"id":"flood","object":"chat.completion","created":0,"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"length"}],%s}`, model, text, counts)
	case completion:
		return fmt.Sprintf(`{"id":"flood","object":"text_completion","created":0,"model":%q,"choices":[{"index":0,"text":"%s","finish_reason":"length"}],%s}`, model, text, counts)
	}
	return fmt.Sprintf(`{"text":"%s","meta_info":{"id":"flood","prompt_tokens":%d,"completion_tokens":%d,"finish_reason":{"type":"length","length":%d}}}`, text, prompt, tokens, tokens)
}
