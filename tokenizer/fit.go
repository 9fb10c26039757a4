package tokenizer

import (
	"fmt"
	"strings"
)

// Fit returns a text whose Encode(text, special) has exactly n ids: the given one, cut or continued with itself, and
// repaired at its end where tokens join across the cut. The same arguments give the same text.
func (t *Tokenizer) Fit(text string, n int, special bool) (string, error) {
	body := n
	if special {
		body -= t.NumSpecial()
	}
	if n < 0 || body < 0 {
		return "", fmt.Errorf("a text of %d tokens is asked for, and %d special ones come with it", n, t.NumSpecial())
	}
	f := fitter{t: t, want: n, special: special}
	out, err := f.fit(text, body)
	if err != nil {
		return "", fmt.Errorf("making a text of %d tokens: %w", n, err)
	}
	return out, nil
}

// FitIDs is Fit for the text of ids, which are repeated if there are fewer than n.
func (t *Tokenizer) FitIDs(ids []uint32, n int, special bool) (string, error) {
	long := ids
	for len(ids) > 0 && len(long) < n {
		long = append(long[:len(long):len(long)], ids[:min(len(ids), n-len(long))]...)
	}
	text, err := t.Decode(long, true)
	if err != nil {
		return "", err
	}
	return t.Fit(text, n, special)
}

// fillers are texts of mostly one token each that continue a text; the first that has the wished effect is taken.
var fillers = []string{" a", " the", " of", "a", ".", " 1", "1", "\n", " x", "!", "e", "?", "▁a", " A", "t", "\n\n", "中", "<"}

type fitter struct {
	t       *Tokenizer
	want    int // ids in all
	special bool
}

// miss is how many ids text has too many; negative if too few.
func (f *fitter) miss(text string) (int, error) {
	n, err := f.t.Count(text, f.special)
	return n - f.want, err
}

func (f *fitter) fit(text string, body int) (string, error) {
	if body == 0 {
		text = ""
	}
	d, err := f.miss(text)
	if err != nil || d == 0 {
		return text, err
	}
	if d < 0 && text != "" {
		if text, err = f.repeat(text, body, body+d); err != nil {
			return "", err
		}
	}
	if text, err = f.cut(text, body); err != nil {
		return "", err
	}
	return f.repair(text)
}

// repeat continues a text of have ids with itself until it has more than body.
func (f *fitter) repeat(text string, body, have int) (string, error) {
	joint := " "
	if last := text[len(text)-1]; last == ' ' || last == '\n' {
		joint = ""
	}
	times := body/max(1, have) + 1
	for range 6 {
		long := text + strings.Repeat(joint+text, times)
		d, err := f.miss(long)
		if err != nil || d >= 0 {
			return long, err
		}
		times *= 2
	}
	return text, nil // a text without tokens of its own; repair fills it up
}

// cut keeps the first ids of a text and lands at or a little below the wish.
func (f *fitter) cut(text string, body int) (string, error) {
	ids, err := f.t.Encode(text, false)
	if err != nil {
		return "", err
	}
	keep := min(body, len(ids))
	for range 16 {
		d, err := f.miss(text)
		if err != nil || d <= 0 {
			return text, err
		}
		part, err := f.t.Decode(ids[:keep], false)
		if err != nil {
			return "", err
		}
		text = strings.TrimRight(part, "\uFFFD")
		if d, err = f.miss(text); err != nil || d <= 0 {
			return text, err
		}
		keep = max(0, keep-d)
	}
	return "", nil
}

// repair appends fillers until the count is right, and takes characters off the end where none fits.
func (f *fitter) repair(text string) (string, error) {
	for range 200 {
		d, err := f.miss(text)
		if err != nil || d == 0 {
			return text, err
		}
		if d > 0 {
			text = dropLast(text)
			continue
		}
		next, err := f.fill(text, -d)
		if err != nil {
			return "", err
		}
		if next == text {
			next = dropLast(text)
		}
		if next == text {
			break
		}
		text = next
	}
	return "", fmt.Errorf("no continuation gives that length with this tokenizer")
}

func dropLast(s string) string {
	r := []rune(s)
	if len(r) == 0 {
		return s
	}
	return string(r[:len(r)-1])
}

// fill appends the filler that brings the text closest to the wish without passing it.
func (f *fitter) fill(text string, lacking int) (string, error) {
	best, bestMiss := text, lacking
	for _, filler := range fillers {
		next := text + strings.Repeat(filler, lacking)
		d, err := f.miss(next)
		if err != nil {
			return "", err
		}
		if d == 0 {
			return next, nil
		}
		if d > 0 {
			next = text + filler
			if d, err = f.miss(next); err != nil {
				return "", err
			}
		}
		if d <= 0 && -d < bestMiss {
			best, bestMiss = next, -d
		}
	}
	return best, nil
}
