package doctor

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
)

// Served decides the name that goes into requests, from what the user asked and what the server says it serves. Notes tell
// a choice the user may not expect. The error is a refusal: nothing was named and nothing is known.
func Served(asked bench.Model, srv *bench.Server) (name bench.ServedModel, notes []string, err error) {
	if asked.Served != "" {
		return asked.Served, unlisted(asked.Served, srv), nil
	}
	if asked.Asked == "" {
		if len(srv.Models) == 0 {
			return "", nil, noModel(srv)
		}
		base := baseModels(srv)
		if len(base) == 0 {
			base = append(base, srv.Models[0].ID)
		}
		if len(base) > 1 {
			notes = append(notes, fmt.Sprintf("the server serves %d models; the first, %q, is asked (choose with --model)", len(base), base[0]))
		}
		return base[0], notes, nil
	}
	name = bench.ServedModel(asked.Asked)
	if len(srv.Models) == 0 || listed(name, srv) {
		return name, nil, nil
	}
	// A repository or a path is not a served name: with one model there is no doubt which one is meant.
	if base := baseModels(srv); (IsRepo(asked.Asked) || IsPath(asked.Asked)) && len(base) == 1 {
		return base[0], []string{fmt.Sprintf("--model %s is not a name this server answers to; requests name the one model it serves, %q", asked.Asked, base[0])}, nil
	}
	return name, unlisted(name, srv), nil
}

// noModel says why there is no name to ask for.
func noModel(srv *bench.Server) error {
	switch {
	case srv.Barred:
		return fmt.Errorf("%s says what it serves only to who has the right key: set OPENAI_API_KEY or API_KEY (see above)", srv.BaseURL)
	case srv.Engine == bench.EngineUnknown && srv.EngineFrom == "":
		return fmt.Errorf("%s answers, but not as an LLM server does: are host, port and path right? If they are, name its model with --model", srv.BaseURL)
	}
	return fmt.Errorf("no model to ask for: %s lists none and none was named; name one with --model", srv.BaseURL)
}

func listed(name bench.ServedModel, srv *bench.Server) bool {
	for _, m := range srv.Models {
		if m.ID == name {
			return true
		}
	}
	return false
}

func unlisted(name bench.ServedModel, srv *bench.Server) []string {
	if len(srv.Models) == 0 || listed(name, srv) {
		return nil
	}
	var ids []string
	for _, m := range srv.Models {
		ids = append(ids, fmt.Sprintf("%q", m.ID))
	}
	return []string{fmt.Sprintf("the server does not list %q; it serves %s", name, strings.Join(ids, ", "))}
}

// baseModels lists what is served without LoRA adapters.
func baseModels(srv *bench.Server) []bench.ServedModel {
	var out []bench.ServedModel
	for _, m := range srv.Models {
		if m.Parent == "" {
			out = append(out, m.ID)
		}
	}
	return out
}

// weightsOf returns the card that tells where a served model's weights and tokenizer come from: its own, or for a LoRA adapter, which
// is read with its base model's tokenizer, that of its parent where it is listed.
func weightsOf(served bench.ServedModel, srv *bench.Server) (card bench.ModelCard, ok bool) {
	for _, m := range srv.Models {
		if m.ID == served {
			card, ok = m, true
		}
	}
	for _, m := range srv.Models {
		if ok && card.Parent != "" && string(m.ID) == card.Parent {
			return m, true
		}
	}
	return card, ok
}

// IsPath reports whether a word is meant as a local path by its form alone.
func IsPath(s string) bool {
	return strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~") || filepath.IsAbs(s) || strings.HasPrefix(s, "/") ||
		strings.Contains(s, `\`) || strings.HasSuffix(s, ".json") || strings.HasSuffix(s, ".model") || strings.HasSuffix(s, ".gguf") ||
		strings.HasSuffix(s, ".tiktoken")
}

// IsRepo reports whether a word has the form org/name or org/name@revision. Whether a folder of that name exists is for
// the caller to ask first.
func IsRepo(s string) bool {
	if IsPath(s) {
		return false
	}
	_, err := hub.ParseRepo(s)
	return err == nil
}

// Repo is where the weights are published as far as anybody says so: the server first, then the user; "" where nobody does.
func Repo(asked bench.Model, served bench.ServedModel, srv *bench.Server) bench.ModelRepo {
	said := []string{srv.ModelPath}
	if card, ok := weightsOf(served, srv); ok {
		said = append(said, card.Root)
	}
	for _, s := range append(said, srv.ModelID, asked.Asked, string(served)) {
		if repo, ok := hub.FromSnapshotPath(s); ok {
			return bench.ModelRepo(repo.String())
		}
		if IsRepo(s) {
			return bench.ModelRepo(s)
		}
	}
	return ""
}

// candidate is one place a tokenizer may come from.
type candidate struct {
	source bench.TokenizerSource
	from   string // who named it, in words
	// remote marks a path that the server declared: it is opened only where the server runs on this machine.
	remote bool
}

// candidates lists where the tokenizer may come from, best first, when the user has not named it.
func candidates(asked bench.Model, served bench.ServedModel, srv *bench.Server) []candidate {
	var out []candidate
	add := func(s, from string, remote bool) {
		if s = strings.TrimSpace(s); s == "" {
			return
		}
		if repo, ok := hub.FromSnapshotPath(s); ok {
			s, remote = repo.String(), false
		}
		for _, c := range out {
			if string(c.source) == s {
				return
			}
		}
		out = append(out, candidate{bench.TokenizerSource(s), from, remote})
	}
	add(srv.TokenizerPath, "the server's tokenizer_path", true)
	add(srv.ModelPath, "the server's model_path", true)
	if card, ok := weightsOf(served, srv); ok {
		add(card.Root, "the server's root of "+string(card.ID), true)
	}
	add(srv.ModelID, "the server's model_id", true)
	if IsPath(asked.Asked) || IsRepo(asked.Asked) {
		add(asked.Asked, "--model", false)
	}
	if IsRepo(string(served)) {
		add(string(served), "the served name", false)
	}
	return out
}
