package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/servemark/servemark/internal/sim/prose"
	"github.com/servemark/servemark/internal/sim/wire"
)

// sampling are the members that all generation routes share, under OpenAI's names.
type sampling struct {
	MaxTokens     *int            `json:"max_tokens"`
	MinTokens     int             `json:"min_tokens"`
	IgnoreEOS     bool            `json:"ignore_eos"`
	Stop          stringOrList    `json:"stop"`
	N             *int            `json:"n"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options"`
	ReturnIDs     bool            `json:"return_token_ids"`
	Interval      int             `json:"stream_interval"`
	Logprobs      json.RawMessage `json:"logprobs"`
	LoraPath      adapterNames    `json:"lora_path"`

	model string // the name that the reply repeats; "" is the served one
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

// stringOrList takes "x", ["x","y"] or null.
type stringOrList []string

// UnmarshalJSON accepts one string or a list of them.
func (l *stringOrList) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if b[0] == '"' {
		var one string
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		*l = stringOrList{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// check reports the first value a server would refuse.
func (p *sampling) check(f Flavour) *wire.Error {
	switch {
	case p.MaxTokens != nil && *p.MaxTokens < 1 && (f != LlamaCpp || *p.MaxTokens < -1):
		e := badRequest("max_tokens must be at least 1, got %d.", *p.MaxTokens)
		e.Param = "max_tokens"
		return e
	case p.N != nil && *p.N != 1:
		return badRequest("n must be 1 on this simulated server, got %d.", *p.N)
	case p.Temperature != nil && (*p.Temperature < 0 || math.IsNaN(*p.Temperature)):
		return badRequest("temperature must be non-negative, got %v.", *p.Temperature)
	case p.TopP != nil && (*p.TopP <= 0 || *p.TopP > 1):
		return badRequest("top_p must be in (0, 1], got %v.", *p.TopP)
	case p.StreamOptions != nil && !p.Stream && f == VLLM:
		return badRequest("Stream options can only be defined when `stream=True`.")
	}
	return nil
}

// prompts reads OpenAI's prompt member: a text, a list of texts, token ids, or lists of token ids.
func (s *Server) prompts(raw json.RawMessage) (list [][]int, batch bool, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, false, fmt.Errorf("a prompt is required")
	}
	var text string
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, false, err
		}
		return [][]int{s.tok.Encode(text)}, false, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, false, fmt.Errorf("prompt must be a text, a list of texts, or token ids")
	}
	if len(items) == 0 {
		return nil, false, fmt.Errorf("prompt must not be an empty list")
	}
	var ids []int
	if json.Unmarshal(raw, &ids) == nil {
		return [][]int{ids}, false, s.checkIDs(ids)
	}
	for _, it := range items {
		var ids []int
		if json.Unmarshal(it, &text) == nil {
			ids = s.tok.Encode(text)
		} else if err := json.Unmarshal(it, &ids); err != nil {
			return nil, true, fmt.Errorf("prompt must be a text, a list of texts, or token ids")
		} else if err := s.checkIDs(ids); err != nil {
			return nil, true, err
		}
		list = append(list, ids)
	}
	return list, true, nil
}

func (s *Server) checkIDs(ids []int) error {
	for _, id := range ids {
		if id < 0 || id >= s.vocab {
			return fmt.Errorf("token id %d is out of vocabulary (size %d)", id, s.vocab)
		}
	}
	return nil
}

// plan decides what an answer will say: how long it is, why it ends, what part is reasoning.
func (s *Server) plan(a *answer, p *sampling, fallback int, chat bool) *wire.Error {
	if a.PromptTokens() == 0 {
		return badRequest("The prompt is empty.")
	}
	limit := 0
	if p.MaxTokens != nil {
		limit = max(*p.MaxTokens, 0)
	}
	if e := s.tooLong(a.PromptTokens(), limit); e != nil {
		return e
	}
	room := s.contextLen() - a.PromptTokens()
	if limit == 0 {
		if limit = room; fallback > 0 {
			limit = min(fallback, room)
		}
	}
	limit = min(limit, room)
	a.limit = limit
	h := prose.HashIDs(s.cfg.Seed^textSeed(a.adapter), a.Prompt)
	if a.Tool != nil {
		a.Pieces = prose.Spell(s.tok, s.toolArguments(h))
		a.Finish = "tool_calls"
		if len(a.Pieces) > limit {
			a.Pieces, a.Finish = a.Pieces[:limit], "length"
		}
		return nil
	}
	n, finish := limit, "length"
	if natural := max(s.naturalLength(h), p.MinTokens, 1); !p.IgnoreEOS && natural < limit {
		n, finish = natural, "stop"
	}
	a.Finish = finish
	if chat {
		a.Think = s.reasoningTokens(n)
	}
	a.Pieces = append(s.text.Write(a.Think, h, true), s.text.Write(n-a.Think, prose.Mix(h), chat && a.Think == 0)...)
	a.stopAt(p.Stop)
	return nil
}

// naturalLength is how long the answer to a prompt is when nothing cuts it: between half and one and a half times the mean.
func (s *Server) naturalLength(h uint64) int {
	m := s.cfg.AnswerTokens
	return m - m/2 + int(prose.Mix(h+1)%uint64(2*(m/2)+1))
}

func (s *Server) reasoningTokens(n int) int {
	if s.cfg.ReasoningTokens > 0 {
		return min(s.cfg.ReasoningTokens, n)
	}
	return int(math.Round(s.cfg.ReasoningShare * float64(n)))
}

// stopAt cuts the answer where one of the stop texts is complete: the stop is not part of the text, its tokens are counted.
func (a *answer) stopAt(stops []string) {
	if len(stops) == 0 {
		return
	}
	text, cut, which := a.Text(a.Think, len(a.Pieces)), -1, ""
	for _, st := range stops {
		if st == "" {
			continue
		}
		if i := strings.Index(text, st); i >= 0 && (cut < 0 || i+len(st) < cut+len(which)) {
			cut, which = i, st
		}
	}
	if cut < 0 {
		return
	}
	a.Finish, a.Matched = "stop", which
	at := 0
	for i := a.Think; i < len(a.Pieces); i++ {
		p := &a.Pieces[i]
		end := at + len(p.Text)
		if end > cut {
			*p = prose.NewPiece(p.ID, p.Text[:max(cut-at, 0)])
		}
		if at = end; end >= cut+len(which) {
			a.Pieces = a.Pieces[:i+1]
			return
		}
	}
}
