package dataset

import (
	"encoding/json"
	"fmt"

	"github.com/servemark/servemark/internal/bench"
)

// custom: a file of one conversation a line, its turns' text under "content" or "value", else as sharegpt; the first two
// turns are the pair whatever their roles.
func loadCustom(j *job) error {
	s := shape{keys: []string{"content", "value"}, optionalReply: true}
	f, err := openLines(j.spec.Dataset.Path, 0, &j.skipped, func(line []byte) string {
		if !json.Valid(line) {
			return reasonBroken
		}
		return s.usable(line)
	})
	if err != nil {
		return err
	}
	defer f.close()
	if err := j.read("conversations of "+j.spec.Dataset.Path, len(f.at)); err != nil {
		return err
	}
	return j.loadConversations(f, s)
}

func checkCustom(s *bench.Spec) []error {
	faults := checkConversations(s)
	if s.Dataset.Path == "" {
		faults = append(faults, errNoPath("custom", `{"conversations":[{"content":"Hi"},{"content":"Hello"}]}`))
	}
	return faults
}

// errNoPath asks for the file of a data set that has no source of its own, and shows one line of it.
func errNoPath(name, line string) error {
	return fmt.Errorf("%s needs a file: give --dataset-path a JSON Lines file with lines like %s", name, line)
}
