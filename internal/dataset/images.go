package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/servemark/servemark/internal/bench"
)

// image: random texts as those of the random data sets, each with images of the asked size, white or of drawn pixels. Counts,
// lengths, texts and pixels are the original's for the same seed; the files are written by another encoder than its.
func loadImages(j *job) error {
	d, v := &j.spec.Dataset, j.spec.Dataset.Images
	least, most, err := parsePictures(v.Resolution)
	if err != nil {
		return err
	}
	counts := make([]int64, d.Rows)
	for i := range counts {
		counts[i] = int64(v.Count)
	}
	if v.RandomCount {
		counts = j.rnd.NumPy.Integers(1, int64(v.Count)+1, d.Rows)
	}
	inputs := lengths(j.rnd.NumPy, d.InputTokens, d.RangeRatio, d.Rows)
	outputs := lengths(j.rnd.NumPy, d.OutputTokens, d.RangeRatio, d.Rows)
	m := maker{j: j}
	write := m.imageTexts()
	texts := make([]prompt, d.Rows)
	uris := make([][]string, d.Rows)
	s := newStudio()
	for i := range texts {
		if err = write(&texts[i], inputs[i]); err != nil {
			break
		}
		uris[i] = make([]string, counts[i])
		for k := range uris[i] {
			j.shoot(s, &uris[i][k], least, most)
		}
	}
	if err = errors.Join(err, s.close()); err != nil {
		return err
	}
	if j.spec.Strict {
		j.note("the images have the original's pixels, but their files are written by another encoder than its")
	}
	m.report(len(texts))
	images, weight := 0, 0
	for i := range texts {
		r, err := j.imageRequest(texts[i].Text, uris[i])
		if err != nil {
			return err
		}
		r.OutputTokens = outputs[i]
		j.add(r)
		images += len(uris[i])
		for _, uri := range uris[i] {
			weight += len(uri)
		}
	}
	j.weigh(images, weight)
	return nil
}

// jpegQuality is the original's.
const jpegQuality = 85

// shoot draws an image's size and pixels and has it written to *to.
func (j *job) shoot(s *studio, to *string, least, most picture) {
	v := j.spec.Dataset.Images
	p := least
	if least != most {
		p.width = int(j.rnd.NumPy.Integers(int64(least.width), int64(most.width)+1, 1)[0])
		p.height = int(j.rnd.NumPy.Integers(int64(least.height), int64(most.height)+1, 1)[0])
	}
	rgb := make([]byte, 3*p.width*p.height)
	if v.Blank {
		for i := range rgb {
			rgb[i] = math.MaxUint8
		}
	} else {
		j.rnd.NumPy.Pixels(rgb)
	}
	s.develop(to, func() (string, error) { return dataURI(canvas(p, rgb), v.Format, jpegQuality) })
}

// imageTexts gives what writes a text of n tokens: of ids drawn from the vocabulary without its special tokens or, without a
// tokenizer, a document of the embedded corpus.
func (m *maker) imageTexts() func(p *prompt, n int) error {
	j := m.j
	if j.in.Tokenizer == nil {
		c := j.calibration()
		j.set.Source = "embedded corpus, lengths by words (" + c.source() + ")"
		i := 0
		return func(p *prompt, n int) error {
			words := c.Words(n)
			p.Text = cutWords(document(i, words), words)
			i++
			return nil
		}
	}
	ids := plainVocabulary(j.in)
	j.set.Source = fmt.Sprintf("random ids of the vocabulary's %d that are not special", len(ids))
	return func(p *prompt, n int) error {
		drawn := make([]uint32, n)
		for i, k := range j.rnd.Python.Choices(len(ids), n) {
			drawn[i] = ids[k]
		}
		return m.fill(j.in.Tokenizer, p, n, cycle(drawn))
	}
}

func checkImages(s *bench.Spec) []error {
	faults := checkRandom(s)
	v := s.Dataset.Images
	if v == nil {
		return append(faults, errors.New("image was asked for without its settings"))
	}
	if v.Count < 1 {
		faults = append(faults, fmt.Errorf("the number of images is %d: give at least 1", v.Count))
	}
	if _, _, err := parsePictures(v.Resolution); err != nil {
		faults = append(faults, err)
	}
	if v.Format != "jpeg" && v.Format != "png" {
		faults = append(faults, fmt.Errorf("the image format is %q: give jpeg or png", v.Format))
	}
	return append(faults, checkImageRoute(s)...)
}

// checkImageRoute wants a route that takes images.
func checkImageRoute(s *bench.Spec) []error {
	switch s.Target.API {
	case bench.APIChat, bench.APIGenerate:
		return nil
	}
	return []error{fmt.Errorf("images cannot be sent to the %s route: choose a chat backend, or sglang", s.Target.API)}
}

func readyImages(s *bench.Spec, in *Inputs) []error {
	switch {
	case in.Tokenizer == nil && s.Strict:
		return []error{errors.New("with --strict-compat image draws from the tokenizer's vocabulary and no tokenizer was found: give --tokenizer a tokenizer.json, its folder or org/name, or leave out --strict-compat to use the embedded corpus")}
	case in.Tokenizer != nil && len(vocabularyOf(in.Tokenizer)) == 0:
		return []error{errors.New("image draws from the tokenizer's vocabulary and this one does not tell its tokens (a server's tokenize route does not): give --tokenizer a tokenizer.json, its folder or org/name")}
	}
	return nil
}
