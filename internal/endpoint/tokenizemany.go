package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// Bounds of a question with several texts or several lists of ids.
const (
	listLength = 64
	listBytes  = 1 << 20
)

// EncodeAll returns the ids of each text, in the order of texts, as Encode does. Texts that are not known yet are asked once
// each: by lists of up to 64 of them and 1 MiB in one question where the server takes lists, else in up to eight questions at
// once. The error is that of the first question, in the order of texts, that failed.
func (t *Tokenizer) EncodeAll(texts []string, special bool) ([][]uint32, error) {
	out := make([][]uint32, len(texts))
	places := map[string][]int{} // where a text stands
	var unknown []string
	for i, text := range texts {
		if places[text] == nil {
			var known bool
			if out[i], known = t.recall(text, special); known {
				continue
			}
			unknown = append(unknown, text)
		}
		places[text] = append(places[text], i)
	}
	got, err := askAll(&t.encodes, unknown, func(text string) int { return len(text) }, func(list []string) ([][]uint32, error) {
		if len(list) == 1 {
			ids, err := t.encode(context.Background(), list[0], special)
			return [][]uint32{ids}, err
		}
		a := t.exchange(context.Background(), t.shape.path, t.shape.ask(t.served, list, special))
		return listAnswer(a, len(list), t.shape.many)
	})
	if err != nil {
		return nil, fmt.Errorf("the server's tokenizer: %w", err)
	}
	for i, ids := range got {
		t.remember(unknown[i], special, ids)
		for _, place := range places[unknown[i]] {
			out[place] = slices.Clone(ids)
		}
	}
	return out, nil
}

// DecodeAll returns the text of each list of ids, as Decode does, asking as EncodeAll does.
func (t *Tokenizer) DecodeAll(ids [][]uint32, skipSpecial bool) ([]string, error) {
	if err := t.decodable(); err != nil {
		return nil, err
	}
	out := make([]string, len(ids))
	var asked [][]uint32
	var places []int
	for i := range ids {
		if shown := t.shown(ids[i], skipSpecial); len(shown) > 0 {
			asked, places = append(asked, shown), append(places, i)
		}
	}
	const digits = 7 // an id and its comma, about
	got, err := askAll(&t.decodes, asked, func(ids []uint32) int { return digits * len(ids) }, func(list [][]uint32) ([]string, error) {
		if len(list) == 1 {
			text, err := t.decode(list[0])
			return []string{text}, err
		}
		tokens := make([][]byte, len(list))
		for i, ids := range list {
			tokens[i] = jsonInts(ids)
		}
		whole := slices.Concat([]byte("["), bytes.Join(tokens, []byte(",")), []byte("]"))
		return listAnswer(t.exchange(context.Background(), t.shape.back, t.askBack(whole)), len(list), t.texts)
	})
	if err != nil {
		return nil, fmt.Errorf("the server's tokenizer: %w", err)
	}
	for i, text := range got {
		out[places[i]] = text
	}
	return out, nil
}

// texts reads {"text": ["a", "b"]}.
func (t *Tokenizer) texts(raw []byte) ([]string, error) {
	for _, key := range t.shape.keys {
		var texts []string
		if json.Unmarshal(object(raw)[key], &texts) == nil && texts != nil {
			return texts, nil
		}
	}
	return nil, errors.New("no list of texts")
}

// lists is what is known of a route: whether it takes several things in one question.
type lists struct{ state atomic.Int32 }

const (
	listsUntried = iota
	listsTaken
	listsRefused
)

func (l *lists) refuse() { l.state.Store(listsRefused) }

// notTaken is an answer that a list of several got and that a single one may not get.
type notTaken struct{ cause error }

func (e *notTaken) Error() string { return e.cause.Error() }

// listAnswer reads the answer to a list of n.
func listAnswer[A any](a answer, n int, read func(raw []byte) ([]A, error)) ([]A, error) {
	switch {
	case a.err != nil || a.barred() || a.status == http.StatusTooManyRequests:
		return nil, errors.New(a.fault())
	case !a.ok():
		return nil, &notTaken{errors.New(a.fault())}
	}
	got, err := read(a.body)
	if err == nil && len(got) != n {
		err = fmt.Errorf("%d answers to a list of %d", len(got), n)
	}
	if err != nil {
		return nil, &notTaken{err}
	}
	return got, nil
}

// askAll puts questions to a route and gives the answers in their order. Where it is not known whether the route takes lists,
// one list is sent ahead of all else; a route that refuses it is never sent another.
func askAll[Q, A any](l *lists, questions []Q, weigh func(Q) int, ask func(list []Q) ([]A, error)) ([]A, error) {
	out := make([]A, len(questions))
	put := func(p part) error {
		got, err := ask(questions[p.from:p.to])
		if err == nil {
			copy(out[p.from:p.to], got)
		}
		return err
	}
	parts := split(len(questions), func(i int) int { return weigh(questions[i]) }, l.state.Load() != listsRefused)
	if i := slices.IndexFunc(parts, part.several); i >= 0 && l.state.Load() == listsUntried {
		err := put(parts[i])
		var no *notTaken
		switch {
		case err == nil:
			l.state.Store(listsTaken)
			parts = slices.Delete(parts, i, i+1)
		case errors.As(err, &no):
			l.refuse()
			parts = split(len(questions), nil, false)
		default:
			return nil, err
		}
	}
	return out, atOnce(len(parts), func(i int) error {
		err := put(parts[i])
		var no *notTaken
		if !errors.As(err, &no) {
			return err
		}
		for k := parts[i].from; k < parts[i].to; k++ { // one of them, or all together, were too much
			if err := put(part{k, k + 1}); err != nil {
				return err
			}
		}
		return nil
	})
}

// part is a range of the questions that is put as one.
type part struct{ from, to int }

func (p part) several() bool { return p.to-p.from > 1 }

// split cuts n questions into parts within the bounds of a list, or of one each.
func split(n int, weigh func(i int) int, several bool) []part {
	var parts []part
	held := 0
	for i := range n {
		if several {
			weight := weigh(i)
			if last := len(parts) - 1; last >= 0 && held+weight <= listBytes && i-parts[last].from < listLength {
				held += weight
				parts[last].to = i + 1
				continue
			}
			held = weight
		}
		parts = append(parts, part{i, i + 1})
	}
	return parts
}

// atOnce calls f for 0 to n−1, as many at once as questions may be in flight, and no more after one failed. It returns the
// error of the lowest number.
func atOnce(n int, f func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(n, tokenizeAtOnce) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if errs[i] = f(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
