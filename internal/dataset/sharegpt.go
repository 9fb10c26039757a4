package dataset

import (
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
	path, err := shareGPT().locate(j.spec, j.in)
	if err != nil {
		return err
	}
	f, err := openArray(path, &j.skipped, s.usable)
	if err != nil {
		return err
	}
	defer f.close()
	if err := j.read("conversations of "+path, len(f.at)); err != nil {
		return err
	}
	return j.loadConversations(f, s)
}

func readyShareGPT(s *bench.Spec, in *Inputs) []error { return shareGPT().ready(s, in) }

// bringShareGPT is the cure where the file is missing.
const bringShareGPT = "bring " + shareGPTFile + " of the data set " + shareGPTRepo + " and give its path with --dataset-path (any JSON array of conversations will do)"

func shareGPT() published {
	return published{repo: hub.Repo{ID: shareGPTRepo, Kind: hub.Dataset}, file: shareGPTFile, bring: bringShareGPT}
}
