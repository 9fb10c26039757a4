package cli

import (
	"context"
	"sync"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
)

// alignAtOnce is how many prompts are looked at together.
const alignAtOnce = 8

// align does what vLLM's client does before random and prefix_repetition: where the server counts the first prompt otherwise,
// every prompt that the server finds too long is cut to its length by the server's own tokens. For --strict-compat only; else
// prompts are mended by the tokenizer when they are made.
func (s *session) align(ctx context.Context) error {
	name := s.spec.Dataset.Name
	if !s.spec.Strict || s.spec.Dialect != bench.DialectVLLM || name != "random" && name != "prefix_repetition" || s.plan.Requests[0].Prompt.Text == "" {
		return nil
	}
	theirs, err := endpoint.NewTokenizer(ctx, s.client, s.spec.Target.BaseURL,
		endpoint.TokenizerOptions{Auth: s.job.auth, Served: s.spec.Model.Served, Engine: s.server.Engine, Version: version()})
	if err != nil {
		s.say("prompts: not compared with the server's tokenizer: %s", safe(err.Error()))
		return nil
	}
	first := &s.plan.Requests[0]
	ids, err := theirs.Encode(first.Prompt.Text, false)
	if err != nil || bench.Counted(len(ids)) == first.InputTokens {
		return nil
	}
	s.say("prompts: the server counts the first one as %s, the tokenizer as %s: those that are too long for the server are cut, as in the original", bench.Number(len(ids), "token"), first.InputTokens)
	slots := make(chan struct{}, alignAtOnce)
	var wg sync.WaitGroup
	for i := range s.plan.Requests {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			cut(&s.plan.Requests[i], theirs)
		})
	}
	wg.Wait()
	s.plan.Seal()
	return ctx.Err()
}

// cut shortens a prompt to its length in the server's tokens; what the server cannot answer stays as it is.
func cut(r *bench.Request, theirs *endpoint.Tokenizer) {
	n, known := r.InputTokens.Get()
	ids, err := theirs.Encode(r.Prompt.Text, false)
	if err != nil || !known || len(ids) <= n {
		return
	}
	if text, err := theirs.Decode(ids[:n], false); err == nil {
		r.Prompt.Text = text
	}
}
