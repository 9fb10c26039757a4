package dataset

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// errLooked ends a loader of which no more than a look at its file was wanted.
var errLooked = errors.New("the file has been looked through")

// Look reads the file that the Spec names as Load would, and makes no request of it: what is wrong with a file is known before
// anybody knows a tokenizer or a server. note tells of rows that will be left out, or is "". Nothing is looked at where no file is
// named, where reading it uses it up (a pipe), and in Parquet, whose pictures take long to unpack.
func Look(s *bench.Spec, in *Inputs) (note string, err error) {
	k, err := find(s)
	if err != nil || !k.takes(path) || s.Dataset.Path == "" || isParquet(s.Dataset.Path) {
		return "", err
	}
	if info, err := os.Stat(fileOf(s)); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "", nil // CheckInputs tells
	}
	rnd, err := NewStreams(s.Seed)
	if err != nil {
		return "", err
	}
	j := &job{spec: s, in: in, rnd: rnd, set: &Set{}, want: s.Dataset.Rows, look: true}
	if err := k.load(j); !errors.Is(err, errLooked) {
		return "", err
	}
	return j.skipped.note(), nil
}

// read is what a loader calls when it has read its file: where its rows come from and how many are usable. An error ends the
// loader.
func (j *job) read(source string, usable int) error {
	j.set.Source = source
	switch {
	case usable == 0:
		return j.noRow()
	case j.look:
		return errLooked
	}
	return nil
}

// noRow refuses a file of which nothing can be asked.
func (j *job) noRow() error {
	why := j.set.Notes
	if skipped := j.skipped.note(); skipped != "" {
		why = append(why, skipped)
	}
	return fmt.Errorf("no usable row (%s): %s", j.set.Source, strings.Join(append(why, "bring a file with at least one"), "; "))
}
