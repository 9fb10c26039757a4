package dataset

import (
	"fmt"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/hub"
)

// The published file that sharegpt and random take their conversations from.
const (
	shareGPTRepo = "anon8231489123/ShareGPT_Vicuna_unfiltered"
	shareGPTFile = "ShareGPT_V3_unfiltered_cleaned_split.json"
)

// sharegpt: the first exchange of each conversation of a JSON array {"conversations":[{"from","value"}…]}, shuffled. The
// output limit is the reply's length. Rows under two tokens or over the context limit are left out.
func loadShareGPT(j *job) error {
	return j.shareGPT(shape{keys: []string{"value"}, byRole: !j.spec.Strict})
}

// shareGPT opens the file that was named, lies in the cache or can be fetched, and takes its rows.
func (j *job) shareGPT(s shape) error {
	path := j.spec.Dataset.Path
	if path == "" {
		var ok bool
		var err error
		if path, ok, err = cachedShareGPT(j.in); err != nil {
			return err
		}
		if !ok {
			if path, err = j.in.Fetch(shareGPT(), shareGPTFile); err != nil {
				return fmt.Errorf("%w; %s", err, bringShareGPT)
			}
		}
	}
	f, err := openArray(path, &j.skipped, s.usable)
	if err != nil {
		return err
	}
	defer f.close()
	j.set.Source = "conversations of " + path
	return j.loadConversations(f, s)
}

// readyShareGPT wants a file: the one named, one in the cache, or a way to fetch it.
func readyShareGPT(s *bench.Spec, in *Inputs) []error {
	if s.Dataset.Path != "" || in.Fetch != nil {
		return nil
	}
	_, ok, err := cachedShareGPT(in)
	switch {
	case err != nil:
		return []error{err}
	case ok:
		return nil
	}
	return []error{fmt.Errorf("sharegpt needs its conversations and they are not on this machine: %s", bringShareGPT)}
}

// bringShareGPT is the cure where the file is missing.
const bringShareGPT = "bring " + shareGPTFile + " of the data set " + shareGPTRepo + " and give its path with --dataset-path (any JSON array of conversations will do)"

func shareGPT() hub.Repo { return hub.Repo{ID: shareGPTRepo, Kind: hub.Dataset} }

func cachedShareGPT(in *Inputs) (path string, ok bool, err error) {
	if in.Cache == nil {
		return "", false, nil
	}
	return in.Cache.Cached(shareGPT(), shareGPTFile)
}
