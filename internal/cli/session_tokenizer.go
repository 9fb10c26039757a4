package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/doctor"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/report"
)

// How a session comes to its tokenizer.

// findTokenizer takes the first source that works when none was named.
func (s *session) findTokenizer(ctx context.Context) error {
	if s.job.noTokenizer {
		s.say("tokenizer: none, as asked; token counts are the server's usage")
		return nil
	}
	if s.tokenizer.Text == nil {
		var server func(context.Context) (doctor.Text, error)
		if s.spec.Warmup > 0 {
			server = s.serverTokenizer
		}
		s.use(s.finder(server).Find(ctx, s.spec.Model, s.spec.Model.Served, &s.server))
	}
	for _, n := range s.tokenizer.Notes {
		s.say("tokenizer: %s", report.Sentence(n))
	}
	if s.tokenizer.Text == nil {
		s.say("tokenizer: none; token counts are the server's usage (name one with --tokenizer FILE, FOLDER or org/name)")
		return nil
	}
	s.say("tokenizer: %s (%s)", safe(string(s.tokenizer.Source)), s.tokenizer.From)
	s.spec.Model.Tokenizer = s.tokenizer.Source
	s.probe(ctx)
	return nil
}

// serverTokenizer reaches the server's own tokenize route.
func (s *session) serverTokenizer(ctx context.Context) (doctor.Text, error) {
	s.posted = true
	ctx, cancel := context.WithTimeout(ctx, tokenizerWait)
	defer cancel()
	t, err := endpoint.NewTokenizer(ctx, s.client, s.spec.Target.BaseURL,
		endpoint.TokenizerOptions{Auth: s.job.auth, Served: s.spec.Model.Served, Engine: s.server.Engine, Version: version()})
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", tokenizerWait)
		}
		return nil, err // not t: a nil *Tokenizer in an interface is not nil
	}
	return t, nil
}

// tokenizerWait bounds the search for the server's tokenize route.
const tokenizerWait = 8 * time.Second

// probe checks a tokenizer of this machine against the server's own, or says why it does not.
func (s *session) probe(ctx context.Context) {
	if s.tokenizer.Local == nil {
		return
	}
	why, diff := s.unprobed(), ""
	if why == "" {
		theirs, err := s.serverTokenizer(ctx)
		if err == nil {
			diff, err = doctor.CompareWithServer(s.tokenizer.Local, theirs)
		}
		if err != nil {
			why = err.Error()
		}
	}
	switch {
	case why != "":
		s.say("tokenizer: not compared with the server's: %s", safe(why))
	case diff != "":
		s.spec.Model.TokenizerDiffers = diff
		s.say("tokenizer: DIFFERS from the server's: %s; counts by it are not the model's", safe(diff))
	default:
		s.say("tokenizer: gives the same ids as the server's on three probes")
	}
}

// unprobed says why nothing may be posted to compare tokenizers, or "".
func (s *session) unprobed() string {
	switch {
	case s.spec.Strict:
		return "with --strict-compat nothing is posted that the original does not post"
	case s.spec.Warmup == 0:
		return "without warm-up requests nothing is posted before the load"
	case !s.server.Tokenize && s.server.Engine != bench.EngineSGLang: // whose older releases have no such route, and do not tell
		return "it is not known to have a route that tokenizes"
	}
	return ""
}

// use takes a tokenizer and the chat template beside it.
func (s *session) use(t doctor.Tokenizer) {
	s.tokenizer = t
	if t.Text == nil {
		return
	}
	template, err := doctor.ChatTemplate(&t)
	if err != nil {
		s.tokenizer.Notes = append(s.tokenizer.Notes, err.Error())
	}
	s.template = template
	if s.special, err = doctor.SpecialIDs(&t); err != nil {
		s.tokenizer.Notes = append(s.tokenizer.Notes, err.Error())
	}
}

func (s *session) finder(server func(context.Context) (doctor.Text, error)) *doctor.Finder {
	f := doctor.NewFinder(s.getenv, "servemark/"+version(), func(line string) { s.say("tokenizer: %s", safe(line)) })
	f.Server, f.SameMachine = server, loopback(s.spec.Target.BaseURL)
	return f
}
