package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/pyrand"
)

// random-mm of vLLM: texts as random's, each with a drawn number of images of drawn sizes and pixels behind it, all from one generator.
// The images are JPEG, by another encoder than the original's.
func loadVLLMImages(j *job) error {
	d, v := &j.spec.Dataset, j.vllm()
	rng := pyrand.NewGenerator(uint64(j.spec.Seed))
	l := j.drawVLLMLengths(rng, d.Rows, d.InputTokens, d.OutputTokens)
	// Special are the tokens that the tokenizer calls so, not those of its configuration only: a place for an image in a
	// text would confuse the server.
	own := *j.in
	own.SpecialIDs = nil
	m := maker{j: j}
	s := m.sequences(rng, own.plainIDs(modelVocab(j.in.Tokenizer)))
	shared, err := s.prefix(v.PrefixTokens)
	if err != nil {
		return err
	}
	texts, uris := make([]prompt, d.Rows), make([][]string, d.Rows)
	st := newStudio()
	for i := 0; i < d.Rows && err == nil; i++ {
		if err = s.write(&texts[i], shared, l.inputs[i], l.offsets[i], i); err == nil {
			uris[i] = shootBuckets(rng, st, v.Images)
		}
	}
	if err = errors.Join(err, st.close()); err != nil {
		return err
	}
	images, weight := 0, 0
	for i := range texts {
		r := bench.Request{OutputTokens: int(l.outputs[i]), Prompt: bench.Prompt{Messages: imageMessages(uris[i], texts[i].Text, true)}}
		if r.TextTokens, err = j.countText(texts[i].Text); err != nil {
			return err
		}
		if len(uris[i]) == 0 {
			r.InputTokens, r.TemplatedTokens, r.TextTokens = texts[i].tokens, r.TextTokens, bench.Unknown
		}
		if j.spec.Strict { // the original counts the text alone
			r.InputTokens = texts[i].tokens
		}
		j.add(r)
		images += len(uris[i])
		for _, uri := range uris[i] {
			weight += len(uri)
		}
	}
	m.report(len(texts))
	j.weigh(images, weight)
	return nil
}

// vllmQuality is the encoder's usual one, which the original leaves alone.
const vllmQuality = 75

// shootBuckets draws one request's images: how many, then size and pixels of each.
func shootBuckets(rng *pyrand.Generator, s *studio, b *bench.ImageBuckets) []string {
	low, high := imageRange(b)
	n := int(rng.Integers(low, high+1, 1)[0])
	var sizes []picture
	var shares []float64
	total := 0.0
	for _, k := range b.Buckets {
		if k.Share > 0 {
			sizes, shares = append(sizes, picture{k.Width, k.Height}), append(shares, k.Share)
			total += k.Share
		}
	}
	for i := range shares {
		shares[i] /= total
	}
	uris := make([]string, n)
	for i := range uris {
		p := sizes[rng.Choice(shares)]
		rgb := make([]byte, 3*p.width*p.height)
		rng.Bytes(rgb)
		s.develop(&uris[i], func() (string, error) { return dataURI(canvas(p, rgb), "jpeg", vllmQuality) })
	}
	return uris
}

// imageRange is the range of the number of images.
func imageRange(b *bench.ImageBuckets) (low, high int64) {
	low = int64(math.Floor(float64(b.Base) * (1 - b.RangeRatio)))
	high = int64(math.Ceil(float64(b.Base) * (1 + b.RangeRatio)))
	return max(0, low), min(int64(b.Limit), high)
}

func checkVLLMImages(s *bench.Spec) []error {
	faults := checkVLLMRandom(s)
	if s.Target.API != bench.APIChat {
		faults = append(faults, fmt.Errorf("images cannot be sent to the %s route: choose --backend openai-chat with --endpoint /v1/chat/completions", s.Target.API))
	}
	if s.Dataset.VLLM == nil || s.Dataset.VLLM.Images == nil {
		return append(faults, errors.New("random-mm was asked for without its images"))
	}
	b := s.Dataset.VLLM.Images
	if b.Base < 0 || b.Limit < 0 {
		faults = append(faults, fmt.Errorf("the number of images is %d, at most %d: give 0 or more", b.Base, b.Limit))
	}
	if !(b.RangeRatio >= 0 && b.RangeRatio <= 1) {
		faults = append(faults, fmt.Errorf("the range ratio of the number of images is %v: give 0 (exactly so many) to 1 (none to twice as many)", b.RangeRatio))
	} else if low, high := imageRange(b); low > high {
		faults = append(faults, fmt.Errorf("a request has at least %s and %d the most allowed: raise the limit or ask for fewer", bench.Number(int(low), "image"), high))
	}
	total := 0.0
	for _, k := range b.Buckets {
		total += k.Share
		switch {
		case !(k.Share >= 0) || math.IsInf(k.Share, 0):
			faults = append(faults, fmt.Errorf("the share of %dx%d images is %v: give 0 or more", k.Height, k.Width, k.Share))
		case k.Share > 0 && k.Frames != 1:
			faults = append(faults, fmt.Errorf("%d frames of %dx%d are a video and those are not made here: give the share 0, or 1 frame", k.Frames, k.Height, k.Width))
		case k.Share > 0 && !(picture{k.Width, k.Height}).possible():
			faults = append(faults, fmt.Errorf("%dx%d is no image size: give 1 to %d pixels a side", k.Height, k.Width, maxSide))
		}
	}
	if !(total > 0) {
		faults = append(faults, errors.New("no image size has a share above 0: give one with --random-mm-bucket-config"))
	}
	return faults
}

func (p picture) possible() bool {
	return !slices.ContainsFunc([]int{p.width, p.height}, func(n int) bool { return n < 1 || n > maxSide })
}

func readyVLLMImages(s *bench.Spec, in *Inputs) []error { return readyVocabulary(s.Dataset.Name, in) }
