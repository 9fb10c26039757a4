package dataset

import (
	"errors"
	"iter"
)

// Many is a Tokenizer that answers many questions together faster than one after the other: a server that tokenizes.
type Many interface {
	Tokenizer
	// EncodeAll gives what Encode gives for each text, in their order.
	EncodeAll(texts []string, special bool) ([][]uint32, error)
	// DecodeAll gives what Decode gives for each list of ids, in their order.
	DecodeAll(ids [][]uint32, skipSpecial bool) ([]string, error)
}

// window is how many rows ask together at most.
const window = 512

// each calls f for rows 0 to n−1, which must not wait for one another, and returns the error of the lowest that failed. It goes on on all
// processors; where the tokenizer answers many questions together, what the rows ask is gathered. f must use the job it is given.
func (j *job) each(n int, f func(i int, j *job) error) error {
	tok, ok := j.in.Tokenizer.(Many)
	if !ok {
		return parallel(n, func(i int) error { return f(i, j) })
	}
	for from := 0; from < n; from += window {
		err := together(tok, min(window, n-from), func(i int, tok Tokenizer) error {
			in, row := *j.in, *j
			in.Tokenizer, row.in = tok, &in
			return f(from+i, &row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// together runs f for rows 0 to n−1 as coroutines that stop at each question to the tokenizer: in each round every row goes on to its
// next question, and then all are answered. What a row asks and is told is what it would be alone, but
// that a question which fails is told to all rows that asked in its round.
func together(tok Many, n int, f func(i int, tok Tokenizer) error) error {
	errs := make([]error, n)
	live := make([]*asker, n)
	for i := range live {
		a := &asker{Tokenizer: tok}
		next, stop := iter.Pull(func(yield func(*call) bool) {
			a.put = yield
			errs[i] = f(i, a)
		})
		defer stop()
		a.next, live[i] = next, a
	}
	for len(live) > 0 {
		open := make([]*call, len(live))
		_ = parallel(len(live), func(i int) error {
			open[i], _ = live[i].next()
			return nil
		})
		var asking []*asker
		var questions []*call
		for i, q := range open {
			if q != nil {
				asking, questions = append(asking, live[i]), append(questions, q)
			}
		}
		answer(tok, questions)
		live = asking
	}
	return firstError(errs)
}

// call is one question to a tokenizer, and its answer.
type call struct {
	encode  bool
	special bool // of Encode, or skipSpecial of Decode
	text    string
	ids     []uint32
	err     error
}

// asker is the tokenizer of one row.
type asker struct {
	Tokenizer
	put  func(*call) bool
	next func() (*call, bool)
}

func (a *asker) Encode(text string, special bool) ([]uint32, error) {
	q := a.ask(call{encode: true, special: special, text: text})
	return q.ids, q.err
}

func (a *asker) Decode(ids []uint32, skipSpecial bool) (string, error) {
	q := a.ask(call{special: skipSpecial, ids: ids})
	return q.text, q.err
}

// ask waits for the answer.
func (a *asker) ask(q call) *call {
	if !a.put(&q) {
		q.err = errors.New("nobody answers any more") // another row panics
	}
	return &q
}

// answer asks the tokenizer all questions, those of a kind together.
func answer(tok Many, questions []*call) {
	for _, special := range []bool{false, true} {
		var encodes, decodes []*call
		var texts []string
		var ids [][]uint32
		for _, q := range questions {
			switch {
			case q.special != special:
			case q.encode:
				encodes, texts = append(encodes, q), append(texts, q.text)
			default:
				decodes, ids = append(decodes, q), append(ids, q.ids)
			}
		}
		if len(encodes) > 0 {
			got, err := tok.EncodeAll(texts, special)
			for i, q := range encodes {
				if q.err = err; err == nil {
					q.ids = got[i]
				}
			}
		}
		if len(decodes) > 0 {
			got, err := tok.DecodeAll(ids, special)
			for i, q := range decodes {
				if q.err = err; err == nil {
					q.text = got[i]
				}
			}
		}
	}
}
