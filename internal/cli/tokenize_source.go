package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/doctor"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/load"
	"github.com/servemark/servemark/tokenizer"
)

// tokenSource is a tokenizer of this machine, or a server's own.
type tokenSource struct {
	doctor.Text
	local *tokenizer.Tokenizer // nil for a server's
}

// EncodeAll is as that of a tokenizer of this machine. A server that takes one text at a time is asked in turn.
func (t tokenSource) EncodeAll(texts []string, special bool) ([][]uint32, error) {
	if many, ok := t.Text.(encodesAll); ok {
		return many.EncodeAll(texts, special)
	}
	var all [][]uint32
	for _, text := range texts {
		ids, err := t.Encode(text, special)
		if err != nil {
			return all, err
		}
		all = append(all, ids)
	}
	return all, nil
}

// pieces are how the vocabulary spells tokens. A server does not tell, so its pieces are the texts of single tokens, and
// "" where it turns no ids into text.
func (t tokenSource) pieces(ids []uint32) ([]string, error) {
	texts := make([]string, len(ids))
	if t.local != nil {
		for i, id := range ids {
			texts[i], _ = t.local.Token(id)
		}
		return texts, nil
	}
	var alone [][]uint32
	at := map[uint32]int{}
	for _, id := range ids {
		if _, ok := at[id]; !ok {
			at[id] = len(alone)
			alone = append(alone, []uint32{id})
		}
	}
	many, ok := t.Text.(interface {
		DecodeAll(ids [][]uint32, skipSpecial bool) ([]string, error)
	})
	if !ok {
		return texts, nil
	}
	distinct, err := many.DecodeAll(alone, false)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return texts, nil
	case err != nil:
		return nil, err
	}
	for i, id := range ids {
		texts[i] = distinct[at[id]]
	}
	return texts, nil
}

// lacks reports whether the vocabulary is known to have no such token.
func (t tokenSource) lacks(id uint32) bool {
	if t.local == nil {
		n := t.VocabSize() // 0 where the server does not tell
		return n > 0 && int64(id) >= int64(n)
	}
	_, ok := t.local.Token(id)
	return !ok
}

// openSource opens a named source, fetching a repository's files after saying so.
func (c *console) openSource(ctx context.Context, source bench.TokenizerSource, how doctor.ServerAccess) (tokenSource, error) {
	if doctor.IsServer(source) {
		return c.openServerSource(ctx, source, how)
	}
	f := doctor.NewFinder(c.getenv, "servemark/"+version(), func(line string) { c.warn("%s", safe(line)) })
	t, err := f.Named(ctx, source)
	if err != nil {
		return tokenSource{}, err
	}
	for _, n := range t.Notes {
		c.warn("%s", safe(n))
	}
	return tokenSource{t.Text, t.Local}, nil
}

func (c *console) openServerSource(ctx context.Context, source bench.TokenizerSource, how doctor.ServerAccess) (tokenSource, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext}
	if base, _, _, err := endpoint.NormalizeBase(string(source)); err == nil {
		load.ReachSocket(transport, base)
	}
	how.Client, how.Version = &http.Client{Transport: transport}, version()
	t, err := doctor.OpenServer(ctx, source, how)
	if err != nil {
		return tokenSource{}, fmt.Errorf("the tokenizer of the server: %w", err)
	}
	for _, n := range t.Notes {
		c.warn("%s", safe(n))
	}
	c.warn("%s tokenizes (%s)", safe(string(t.Source)), t.From)
	return tokenSource{t.Text, nil}, nil
}

// serverAccess reads how servers among the sources are reached.
func (c *console) serverAccess(a *arguments) doctor.ServerAccess {
	servers := 0
	for _, name := range []string{"tokenizer", "compare"} {
		if doctor.IsServer(bench.TokenizerSource(a.text(name))) {
			servers++
		}
	}
	for _, name := range []string{"model", "header"} {
		if servers == 0 && a.typed(name) {
			a.wrong(name, "has no effect where no server tokenizes", "leave it out")
		}
	}
	var target bench.Target
	var j job
	a.readAuth(&target, &j, c.getenv)
	return doctor.ServerAccess{Auth: j.auth, Served: bench.ServedModel(strings.TrimSpace(a.text("model")))}
}
