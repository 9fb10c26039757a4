package dataset

import (
	"fmt"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
)

// published is a file of a hub that a data set is made of unless another is named.
type published struct {
	repo hub.Repo
	file string
	// bring is the cure where the file is missing.
	bring string
}

// locate is the path that was named, or of the file in the cache, or once it was fetched.
func (p published) locate(s *bench.Spec, in *Inputs) (string, error) {
	if s.Dataset.Path != "" {
		return s.Dataset.Path, nil
	}
	if path, ok, err := p.cached(in); ok || err != nil {
		return path, err
	}
	path, err := in.Fetch(p.repo, p.file)
	if err != nil {
		return "", fmt.Errorf("%s; fetching it failed: %w", p.bring, err) // the cure first: long messages are cut
	}
	return path, nil
}

func (p published) cached(in *Inputs) (path string, ok bool, err error) {
	if in.Cache == nil {
		return "", false, nil
	}
	return in.Cache.Cached(p.repo, p.file)
}

// ready wants a file: the one named, one in the cache, or a way to fetch it.
func (p published) ready(s *bench.Spec, in *Inputs) []error {
	if s.Dataset.Path != "" || in.Fetch != nil {
		return nil
	}
	_, ok, err := p.cached(in)
	switch {
	case err != nil:
		return []error{err}
	case ok:
		return nil
	}
	return []error{fmt.Errorf("%s needs its file and that is not on this machine: %s", s.Dataset.Name, p.bring)}
}
