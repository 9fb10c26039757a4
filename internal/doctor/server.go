package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
)

// ServerAccess is how a server is reached whose own tokenizer is wanted.
type ServerAccess struct {
	// Client sends the questions; sockets (unix://) need one that can dial them.
	Client *http.Client
	// Auth lets them in. User and password in the address are used where it holds no key.
	Auth endpoint.Auth
	// Served is the model to ask for; "" is the first that the server lists.
	Served bench.ServedModel
	// Version is the program's, for the User-Agent header.
	Version string
}

// IsServer reports whether a tokenizer source is the address of a server: only one with a scheme is, since host:port alone
// looks like a model's name with a tag.
func IsServer(source bench.TokenizerSource) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(string(source)), "://")
	return ok && (scheme == "http" || scheme == "https" || scheme == "unix")
}

// serverWait bounds the search for a server's tokenize route.
const serverWait = 15 * time.Second

// OpenServer makes a tokenizer of the server at an address, which is asked what it serves and then with texts of its own
// choosing how it tokenizes; this posts to the server and is for use outside a benchmark. Text is an *endpoint.Tokenizer, Local
// is nil, Source is the address without user, password and route. Notes tell what was assumed.
func OpenServer(ctx context.Context, source bench.TokenizerSource, how ServerAccess) (Tokenizer, error) {
	base, user, notes, err := endpoint.NormalizeBase(string(source))
	if err != nil {
		return Tokenizer{}, err
	}
	if user != nil {
		password, _ := user.Password()
		how.Auth = how.Auth.WithBasic(user.Username(), password)
	}
	t, err := openServer(ctx, base, how)
	if err != nil {
		if ctx.Err() != nil {
			return Tokenizer{}, ctx.Err()
		}
		return Tokenizer{}, errors.New(how.Auth.Redact(err.Error()))
	}
	t.Notes = append(notes, t.Notes...)
	return t, nil
}

func openServer(ctx context.Context, base string, how ServerAccess) (Tokenizer, error) {
	ctx, cancel := context.WithTimeout(ctx, serverWait)
	defer cancel()
	srv, err := endpoint.Discover(ctx, how.Client, base, endpoint.DiscoverOptions{Auth: how.Auth, Version: how.Version})
	if err != nil {
		return Tokenizer{}, err
	}
	served, notes, err := Served(bench.Model{Served: how.Served}, &srv)
	if err != nil {
		served, notes = "", nil // most servers tokenize without a model's name
	}
	text, err := endpoint.NewTokenizer(ctx, how.Client, base, endpoint.TokenizerOptions{Auth: how.Auth, Served: served, Engine: srv.Engine, Version: how.Version})
	if err != nil {
		return Tokenizer{}, noRoute(base, &srv, how.Auth, how.Served, err)
	}
	return Tokenizer{Text: text, Source: bench.TokenizerSource(base), From: text.Shape(), Notes: notes}, nil
}

// noRoute says why a server gave no tokenizer and what to name in its place.
func noRoute(base string, srv *bench.Server, auth endpoint.Auth, model bench.ServedModel, err error) error {
	var none *endpoint.NoTokenizerError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not tokenize a sample within %s: is it loading or overloaded? Try again, or name the model's tokenizer.json, its folder or org/name", base, serverWait)
	case srv.Barred && auth.Present():
		return fmt.Errorf("%s does not accept the key that is sent (%s): set OPENAI_API_KEY or API_KEY to one that it knows", base, auth)
	case srv.Barred:
		return fmt.Errorf("%s answers only those who have the right key: set OPENAI_API_KEY or API_KEY", base)
	case errors.As(err, &none) && model != "":
		return fmt.Errorf("%s tokenizes nothing for the model %q (%s); leave --model out or name one that it serves, or name the model's tokenizer.json, its folder or org/name", base, model, strings.Join(none.Tried, "; "))
	case errors.As(err, &none):
		return fmt.Errorf("%s offers no tokenizer (%s); name the model's tokenizer.json, its folder or org/name", base, strings.Join(none.Tried, "; "))
	}
	return fmt.Errorf("%s: %w", base, err)
}
