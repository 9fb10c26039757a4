package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/sim/wire"
)

// Adapter is a LoRA adapter that is served beside the base model, under a name of its own.
type Adapter struct {
	// Name is what requests ask for; Path the folder or repository it declares, the name again where empty.
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
}

// ParseAdapter reads NAME or NAME=PATH.
func ParseAdapter(text string) (Adapter, error) {
	name, path, said := strings.Cut(text, "=")
	if name == "" || said && path == "" {
		return Adapter{}, fmt.Errorf("LoRA adapter %q has no name or no path; write NAME or NAME=PATH", text)
	}
	return Adapter{Name: name, Path: path}, nil
}

// checkAdapters reports adapters that the server could not tell apart, or that its flavour does not list as models.
func (c Config) checkAdapters() error {
	if len(c.Adapters) == 0 {
		return nil
	}
	c = c.withDefaults()
	var errs []error
	if c.Flavour != SGLang && c.Flavour != VLLM {
		errs = append(errs, fmt.Errorf("LoRA adapters are not served with the flavour %s; take sglang or vllm", c.Flavour))
	}
	seen := map[string]bool{c.ServedModel: true}
	for _, a := range c.Adapters {
		switch {
		case a.Name == "":
			errs = append(errs, errors.New("a LoRA adapter has no name; give it one"))
		case seen[a.Name]:
			errs = append(errs, fmt.Errorf("two models or LoRA adapters are called %q; rename one", a.Name))
		}
		seen[a.Name] = true
	}
	return errors.Join(errs...)
}

func (s *Server) hasAdapter(name string) bool {
	return slices.ContainsFunc(s.cfg.Adapters, func(a Adapter) bool { return a.Name == name })
}

// adapterCards are the entries of /v1/models that stand behind the base model's.
func (s *Server) adapterCards() []any {
	var list []any
	for _, a := range s.cfg.Adapters {
		if a.Path == "" {
			a.Path = a.Name
		}
		card := map[string]any{"id": a.Name, "object": "model", "created": s.created.Unix(), "owned_by": s.manners.OwnedBy, "root": a.Path,
			"parent": s.cfg.ServedModel, "max_model_len": nil}
		if s.cfg.Flavour == VLLM {
			card["permission"] = []any{}
		}
		list = append(list, card)
	}
	return list
}

// adapterNames is SGLang's lora_path: one name for all prompts of a request, or one for each, null for the base model.
type adapterNames struct {
	all  string
	each []string
}

// UnmarshalJSON takes "x", ["x",null] or null.
func (n *adapterNames) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, &n.all)
	}
	n.each = []string{}
	return json.Unmarshal(b, &n.each) // null leaves ""
}

// of is the adapter of the i-th prompt, "" for the base model.
func (n adapterNames) of(i int) string {
	if n.each == nil {
		return n.all
	}
	if i < len(n.each) {
		return n.each[i]
	}
	return ""
}

// summon finds the model and the adapters that a request asks for, and puts them into p. vLLM takes an adapter's name for the
// model's; SGLang takes "model:adapter", else lora_path, and a bare adapter name in the model's place is only a name there.
func (s *Server) summon(p *sampling, model string) *wire.Error {
	p.model = model
	switch {
	case s.cfg.Flavour == VLLM:
		p.LoraPath = adapterNames{}
		if s.hasAdapter(model) {
			p.LoraPath.all = model
			return nil
		}
		return s.unknownModel(model)
	case s.cfg.Flavour != SGLang:
		p.model, p.LoraPath = "", adapterNames{}
		return s.unknownModel(model)
	}
	if base, adapter := s.splitModel(model); adapter != "" {
		model, p.LoraPath = base, adapterNames{all: adapter}
	}
	if !s.hasAdapter(model) {
		if e := s.unknownModel(model); e != nil {
			return e
		}
	}
	return s.loaded(p.LoraPath)
}

// splitModel parts SGLang's "model:adapter"; the served name may hold colons itself.
func (s *Server) splitModel(model string) (base, adapter string) {
	served := s.cfg.ServedModel
	if model == served {
		return model, ""
	}
	if rest, ok := strings.CutPrefix(model, served+":"); ok {
		return served, strings.TrimSpace(rest)
	}
	base, adapter, _ = strings.Cut(model, ":")
	return strings.TrimSpace(base), strings.TrimSpace(adapter)
}

// loaded is SGLang's 400 for an adapter it does not have.
func (s *Server) loaded(n adapterNames) *wire.Error {
	for _, name := range append(n.each[:len(n.each):len(n.each)], n.all) {
		switch {
		case name == "" || s.hasAdapter(name):
		case len(s.cfg.Adapters) == 0:
			return badRequest("LoRA adapter '%s' was requested, but this server was launched without LoRA.", name)
		default:
			var have []string
			for _, a := range s.cfg.Adapters {
				have = append(have, a.Name)
			}
			return badRequest("LoRA adapter that was never loaded: %s\nLoaded adapters: %s.", name, strings.Join(have, ", "))
		}
	}
	return nil
}

// textSeed folds a text into 64 bits, the same on every run; 0 for the empty one. An adapter's name makes it answer otherwise
// than its base model.
func textSeed(text string) uint64 {
	if text == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes every byte
	return h.Sum64()
}

// unknownModel is the 404 for a model the server does not have; llama.cpp serves its one model under any name.
func (s *Server) unknownModel(model string) *wire.Error {
	if s.cfg.Flavour == LlamaCpp || model == s.cfg.ServedModel {
		return nil
	}
	msg := fmt.Sprintf("The model `%s` does not exist.", model)
	if s.cfg.Flavour == SGLang {
		msg = fmt.Sprintf("Model '%s' not found: this server serves '%s'.", model, s.cfg.ServedModel)
	}
	return &wire.Error{Status: http.StatusNotFound, Kind: "NotFoundError", Message: msg, Param: "model"}
}
