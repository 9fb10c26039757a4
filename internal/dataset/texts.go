package dataset

import (
	"fmt"
)

// texts is a corpus that random takes its prompts from.
type texts interface {
	fmt.Stringer
	size() int
	// text gives document i: all of it, or at least so many words of one that has no end.
	text(i, words int) (string, error)
	// endless is true where every document has as many words as are asked.
	endless() bool
	// name says where document i lies.
	name(i int) string
	close()
}

// corpus opens the texts that random draws from and says which they are.
func (j *job) corpus(embedded int) (texts, error) {
	path, ok := j.spec.Dataset.Path, true
	if path == "" {
		var err error
		if path, ok, err = shareGPT().cached(j.in); err != nil {
			return nil, err
		}
	}
	exact := "exact lengths"
	switch {
	case j.in.Tokenizer == nil:
		exact = "lengths by words (" + j.calibration().source() + ")"
	case j.spec.Strict && !j.spec.Dataset.SendIDs:
		exact = "lengths as the original makes them"
	}
	if !ok {
		j.set.Source = "embedded corpus, " + exact
		return documents(embedded), nil
	}
	s := shape{keys: []string{"value"}}
	f, err := openArray(path, &j.skipped, s.usable)
	if err != nil {
		return nil, err
	}
	if err := j.read("texts of "+path+", "+exact, len(f.at)); err != nil {
		f.close()
		return nil, err
	}
	if j.in.Tokenizer == nil && j.in.Calibration.TokensPerWord != 0 {
		j.note("lengths follow a calibration with the embedded corpus, while the prompts are texts of %s: they may be some way off; --tokenizer makes them exact", path)
	}
	return &conversations{f, s}, nil
}

func (c Calibration) source() string {
	if c.Source == "" {
		return fmt.Sprintf("%.2f tokens a word", c.TokensPerWord)
	}
	return c.Source
}

// embeddedSize is how many documents of the embedded corpus are shuffled, unless more are asked for.
const embeddedSize = 1 << 16

// documents is the embedded corpus with so many documents.
type documents int

func (documents) String() string                    { return "the embedded corpus" }
func (d documents) size() int                       { return int(d) }
func (documents) text(i, words int) (string, error) { return document(i, words), nil }
func (documents) endless() bool                     { return true }
func (documents) name(i int) string                 { return fmt.Sprintf("document %d", i) }
func (documents) close()                            {}

// conversations is a file of them, each one's first turn being a document.
type conversations struct {
	*rows
	shape shape
}

func (c *conversations) String() string { return c.path }
func (c *conversations) size() int      { return len(c.at) }
func (c *conversations) endless() bool  { return false }

func (c *conversations) text(i, _ int) (string, error) {
	row, err := c.read(i)
	if err != nil {
		return "", err
	}
	p, reason := c.shape.pair(row)
	if reason != "" {
		return "", fmt.Errorf("%s %s: %s; repair the row or take it out", c.path, c.rows.name(i), reason)
	}
	return p.prompt, nil
}
