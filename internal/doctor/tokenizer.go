package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/hub"
	"github.com/servemark/servemark/tokenizer"
)

// Text is a tokenizer as the rooms that make and count prompts need it.
type Text interface {
	Encode(text string, special bool) ([]uint32, error)
	Decode(ids []uint32, skipSpecial bool) (string, error)
	NumSpecial() int
	VocabSize() int
	IsSpecial(id uint32) bool
}

// Tokenizer is what was found. Text nil means: there is none, the server's usage counts.
type Tokenizer struct {
	Text   Text
	Source bench.TokenizerSource
	// From says in words who named the source.
	From string
	// Local is the tokenizer of this machine behind Text, or nil where the server tokenizes.
	Local *tokenizer.Tokenizer
	// Dir is the folder the tokenizer lies in, or "": chat templates lie beside it.
	Dir string
	// Notes tell sources that failed and why.
	Notes []string
}

// Finder finds tokenizers. Hub nil means that no cache can be read.
type Finder struct {
	Hub *hub.Client
	// HubFault says why Hub is nil.
	HubFault error
	// Say announces a download (repo and host) before it starts.
	Say func(string)
	// Progress is told how a download goes; nil for nobody.
	Progress func(file string, done, total int64)
	// Server returns the server's own tokenizer, or an error that says why it has none; nil where nothing may be posted.
	Server func(context.Context) (Text, error)
	// SameMachine is true where the server's paths are this machine's.
	SameMachine bool
}

// Named opens the tokenizer that the user named. Its failure refuses the run.
func (f *Finder) Named(ctx context.Context, source bench.TokenizerSource) (Tokenizer, error) {
	if IsServer(source) {
		return Tokenizer{}, fmt.Errorf("--tokenizer %s: %w", shownAddress(source), errServerSource)
	}
	t, err := f.open(ctx, source)
	if err != nil {
		if words, ok := strings.CutPrefix(err.Error(), fmt.Sprintf("tokenizer %s: ", source)); ok {
			err = errors.New(words) // the name stands in front already
		}
		return Tokenizer{}, fmt.Errorf("--tokenizer %s: %w%s", source, err, cureOf(source, err))
	}
	t.From = "--tokenizer"
	return t, nil
}

var errServerSource = errors.New("it is the address of a server; leave --tokenizer out, and the tokenizer of the server under test is used where it offers one")

// shownAddress is an address without user and password, which no message may show.
func shownAddress(source bench.TokenizerSource) string {
	base, _, _, err := endpoint.NormalizeBase(string(source))
	if err != nil {
		scheme, _, _ := strings.Cut(string(source), "://")
		return scheme + "://…"
	}
	return base
}

// cureOf is what to do about a file that is no tokenizer, where the error does not say it itself.
func cureOf(source bench.TokenizerSource, err error) string {
	info, statErr := os.Stat(expandHome(string(source)))
	switch {
	case statErr != nil || strings.Contains(err.Error(), "; "):
		return ""
	case !info.IsDir() && info.Size() < 1<<10:
		return "; the download may have failed: bring the model's tokenizer.json again"
	}
	return "; name the model's tokenizer.json, its folder, or org/name"
}

// Find tries what the server declared and what the user typed as a model, then the server's own route. Failing sources are
// told in Notes; none at all is no error.
func (f *Finder) Find(ctx context.Context, asked bench.Model, served bench.ServedModel, srv *bench.Server) Tokenizer {
	var notes []string
	for _, c := range candidates(asked, served, srv) {
		if c.remote && !f.SameMachine && !IsRepo(string(c.source)) && c.source != tokenizer.BuiltinName {
			notes = append(notes, fmt.Sprintf("%s %q is a path on the server's machine and is not opened here", c.from, c.source))
			continue
		}
		t, err := f.open(ctx, c.source)
		if err == nil {
			t.From, t.Notes = c.from, append(notes, t.Notes...)
			return t
		}
		notes = append(notes, fmt.Sprintf("%s %q: %v", c.from, c.source, err))
	}
	if f.Server != nil {
		text, err := f.Server(ctx)
		if err == nil {
			return Tokenizer{Text: text, Source: bench.TokenizerFromServer, From: "the server's tokenize route", Notes: notes}
		}
		notes = append(notes, fmt.Sprintf("the server's tokenize route: %v", err))
	}
	return Tokenizer{Notes: notes}
}

// open reads one source: a built-in, a path, or a repository.
func (f *Finder) open(ctx context.Context, source bench.TokenizerSource) (Tokenizer, error) {
	s := string(source)
	if s == tokenizer.BuiltinName {
		t, err := tokenizer.Builtin(s)
		return found(t, source, "", err)
	}
	if IsServer(source) {
		return Tokenizer{}, errServerSource
	}
	path := expandHome(s)
	info, err := os.Stat(path)
	switch {
	case err == nil:
		dir := path
		if !info.IsDir() {
			dir = filepath.Dir(path)
		}
		t, err := tokenizer.Open(path)
		return found(t, source, dir, err)
	case !errors.Is(err, fs.ErrNotExist):
		return Tokenizer{}, fmt.Errorf("cannot be opened: %w", err)
	case IsPath(s):
		return Tokenizer{}, errors.New("there is no such file or folder")
	}
	repo, err := hub.ParseRepo(s)
	var bare *hub.Error
	switch {
	case err == nil:
		return f.fromHub(ctx, repo, source)
	case errors.As(err, &bare) && bare.Kind == hub.BareName:
		return f.bare(ctx, bare.Repo, source)
	}
	return Tokenizer{}, errors.New("there is no such file or folder, and it is not the name of a repository (org/name)")
}

func found(t *tokenizer.Tokenizer, source bench.TokenizerSource, dir string, err error) (Tokenizer, error) {
	if err != nil {
		return Tokenizer{}, err
	}
	return Tokenizer{Text: t, Local: t, Source: source, Dir: dir}, nil
}

// expandHome turns a leading ~ into the home folder.
func expandHome(s string) string {
	rest, ok := strings.CutPrefix(s, "~")
	if !ok || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
		return s
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return s
	}
	return home + rest
}
