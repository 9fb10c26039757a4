package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
	"github.com/servemark/servemark/tokenizer"
)

// tokenizerFiles are what a repository may hold a tokenizer in, best first; beside are files that complete it: ids of opening
// tokens depend on the first, names of special tokens and the chat template on the others.
var (
	tokenizerFiles = []string{"tokenizer.json", "tekken.json", "tokenizer.model", "tiktoken.model", "qwen.tiktoken"}
	beside         = []string{"tokenizer_config.json", "config.json", "special_tokens_map.json", "chat_template.jinja", "chat_template.json"}
)

// fromHub takes the tokenizer from the local cache, else from the hub after saying so.
func (f *Finder) fromHub(ctx context.Context, repo hub.Repo, source bench.TokenizerSource) (Tokenizer, error) {
	if f.Hub == nil {
		return Tokenizer{}, fmt.Errorf("it is a repository, and the hub cannot be used: %w", cmp.Or(f.HubFault, errors.New("there is no folder for its cache")))
	}
	if t, ok, err := f.fromCache(ctx, repo, source, false); ok || err != nil {
		return t, err
	}
	if off := f.Hub.Offline(); off != "" {
		return Tokenizer{}, fmt.Errorf("it is not in the hub cache %s, and %s forbids the network: unset that, or name a file or folder", f.Hub.CacheDir(), off)
	}
	f.Say(fmt.Sprintf("fetching the tokenizer of %s from %s into the hub cache", repo, f.Hub.Host()))
	if err := f.fetchTokenizer(ctx, repo); err != nil {
		return Tokenizer{}, err
	}
	t, ok, err := f.fromCache(ctx, repo, source, true)
	if err == nil && !ok {
		err = fmt.Errorf("what was fetched is not in the hub cache %s any more: is another program emptying it?", f.Hub.CacheDir())
	}
	return t, err
}

// bare looks a name without organisation up in the cache, where such old names may lie; it never leaves the machine.
func (f *Finder) bare(ctx context.Context, repo hub.Repo, source bench.TokenizerSource) (Tokenizer, error) {
	if f.Hub != nil {
		if t, ok, err := f.fromCache(ctx, repo, source, false); ok || err != nil {
			return t, err
		}
	}
	return Tokenizer{}, errors.New("there is no such file or folder, it is not the name of a repository (org/name), and the hub cache has no tokenizer of that name; type org/name to have it fetched")
}

// fetchTokenizer brings the best file that a repository holds a tokenizer in.
func (f *Finder) fetchTokenizer(ctx context.Context, repo hub.Repo) error {
	var missing *hub.Error
	for _, file := range tokenizerFiles {
		_, err := f.Hub.Fetch(ctx, repo, file, f.progress(file))
		if err == nil {
			return nil
		}
		if !errors.Is(err, hub.FileNotFound) || !errors.As(err, &missing) {
			return err
		}
	}
	none := *missing
	last := len(tokenizerFiles) - 1
	none.File, none.Server = strings.Join(tokenizerFiles[:last], ", ")+" or "+tokenizerFiles[last], ""
	return fmt.Errorf("%w; a repository of adapters or converted weights often has none: name the one it was made from", &none)
}

// fromCache opens what the cache has of a repository, completed first. fresh is true where the tokenizer has just been fetched. ok is
// false where there is none.
func (f *Finder) fromCache(ctx context.Context, repo hub.Repo, source bench.TokenizerSource, fresh bool) (t Tokenizer, ok bool, err error) {
	dir, commit, ok, err := f.Hub.CachedDir(repo)
	if err != nil || !ok || !holdsTokenizer(dir) {
		return Tokenizer{}, false, err
	}
	note, err := f.complete(ctx, repo, commit, fresh)
	if err != nil {
		return Tokenizer{}, false, err
	}
	local, err := tokenizer.Open(dir)
	if err != nil {
		return Tokenizer{}, false, fmt.Errorf("its copy in the hub cache cannot be used: %w; delete %s and it is fetched again", err, filepath.Dir(filepath.Dir(dir)))
	}
	t, err = found(local, source, dir, nil)
	if note != "" {
		t.Notes = []string{note}
	}
	return t, err == nil, err
}

// holdsTokenizer tells whether a folder has a file that may be a tokenizer, good or broken.
func holdsTokenizer(dir string) bool {
	entries, _ := os.ReadDir(dir) // one that cannot be read holds none: the hub will say
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		name := e.Name()
		switch filepath.Ext(name) {
		case ".model", ".tiktoken", ".gguf":
			return true
		}
		return name == "tokenizer.json" || name == "tekken.json" || strings.Contains(name, ".model.v")
	})
}

// complete brings the files beside a cached tokenizer that nobody has looked for yet: a tokenizer without them may put no opening
// token, or another. Where the hub is not to be asked of a tokenizer that was there before, or cannot be, the note says what may be
// missing. Else a file that is there and does not come is an error, and so is a hub that answers and does not give what the ids of
// a file other than tokenizer.json depend on.
func (f *Finder) complete(ctx context.Context, repo hub.Repo, commit string, fresh bool) (note string, err error) {
	pinned := hub.Repo{ID: repo.ID, Revision: commit}
	var unknown []string
	for _, file := range beside {
		_, ok, err := f.Hub.Cached(pinned, file)
		if err != nil {
			return "", err
		}
		if !ok && !f.Hub.KnownAbsent(pinned, file) {
			unknown = append(unknown, file)
		}
	}
	if len(unknown) == 0 {
		return "", nil
	}
	if off := f.Hub.Offline(); off != "" {
		return incomplete(repo, unknown, fmt.Sprintf("as %s forbids the network", off)), nil
	}
	if !strings.Contains(repo.ID, "/") {
		return incomplete(repo, unknown, "as a name without organisation is not sent to a hub"), nil
	}
	if !fresh {
		f.Say(fmt.Sprintf("looking for %s of %s on %s, which the hub cache lacks", strings.Join(unknown, ", "), repo, f.Hub.Host()))
	}
	_, whole, _ := f.Hub.Cached(pinned, "tokenizer.json") // its ids do not depend on what lies beside
	for i, file := range unknown {
		_, err := f.Hub.Fetch(ctx, pinned, file, f.progress(file))
		switch {
		case err == nil || errors.Is(err, hub.FileNotFound):
		case fresh || ctx.Err() != nil:
			return "", err
		case file == beside[0] && !whole && !unreachable(err):
			return "", fmt.Errorf("the hub cache has it without %s, on which its ids depend: %w", file, err)
		default:
			return incomplete(repo, unknown[i:], fmt.Sprintf("as the hub could not be asked (%v)", err)), nil
		}
	}
	return "", nil
}

// unreachable tells the failures of a machine without a way to the hub from those of a hub that answers.
func unreachable(err error) bool {
	return slices.ContainsFunc([]hub.Kind{hub.DNS, hub.Refused, hub.TimedOut, hub.TLS, hub.Proxy, hub.Network}, func(k hub.Kind) bool { return errors.Is(err, k) })
}

// incomplete says that a cached tokenizer is used without files that its repository may have.
func incomplete(repo hub.Repo, files []string, why string) string {
	what := "its chat template"
	if files[0] == beside[0] {
		what = "its opening token and chat template"
	}
	return fmt.Sprintf("%s is used as it lies in the hub cache; %s may differ from the repository's, without %s, %s", repo, what, strings.Join(files, ", "), why)
}

func (f *Finder) progress(file string) func(done, total int64) {
	if f.Progress == nil {
		return nil
	}
	return func(done, total int64) { f.Progress(file, done, total) }
}
