package dataset

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/servemark/servemark/internal/bench"
)

// picture is the size of an image in pixels.
type picture struct{ width, height int }

// pictureSizes are the named sizes.
func pictureSizes() map[string]picture {
	return map[string]picture{"4k": {3840, 2160}, "1080p": {1920, 1080}, "720p": {1280, 720}, "360p": {640, 360}}
}

// maxSide bounds an image's sides: JPEG can have no longer ones.
const maxSide = 65535

// parsePicture reads a named size or HEIGHTxWIDTH.
func parsePicture(text string) (picture, error) {
	if p, ok := pictureSizes()[text]; ok {
		return p, nil
	}
	high, wide, ok := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "x")
	h, err1 := strconv.Atoi(high)
	w, err2 := strconv.Atoi(wide)
	if !ok || err1 != nil || err2 != nil || !(picture{w, h}).possible() {
		return picture{}, fmt.Errorf("%q is no image size: give 4k, 1080p, 720p, 360p, or HEIGHTxWIDTH like 1080x1920", text)
	}
	return picture{w, h}, nil
}

// parsePictures reads a size, or "random:SIZE-SIZE", as the smallest and the largest.
func parsePictures(text string) (least, most picture, err error) {
	const prefix = "random:"
	trimmed := strings.TrimSpace(text)
	if len(trimmed) < len(prefix) || !strings.EqualFold(trimmed[:len(prefix)], prefix) {
		least, err = parsePicture(text)
		return least, least, err
	}
	low, high, ok := strings.Cut(trimmed[len(prefix):], "-")
	if !ok {
		return least, most, fmt.Errorf("%q is no range of image sizes: write it as random:256x256-1024x1024 (height first)", text)
	}
	if least, err = parsePicture(low); err == nil {
		most, err = parsePicture(high)
	}
	if err == nil && (least.width > most.width || least.height > most.height) {
		err = fmt.Errorf("%q is no range of image sizes: the first must not be higher or wider than the second", text)
	}
	return least, most, err
}

// canvas is an opaque image whose pixels are given as red, green, blue.
func canvas(p picture, rgb []byte) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, p.width, p.height))
	for i, k := 0, 0; k < len(rgb); i, k = i+4, k+3 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = rgb[k], rgb[k+1], rgb[k+2], 255
	}
	return img
}

// dataURI writes an image in a data URI. Quality is JPEG's, 1 to 100.
func dataURI(img image.Image, format string, quality int) (string, error) {
	var b bytes.Buffer
	var err error
	switch format {
	case "jpeg":
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: quality})
	case "png":
		err = png.Encode(&b, img)
	default:
		err = fmt.Errorf("image format %q is not written here", format)
	}
	if err != nil {
		return "", fmt.Errorf("an image could not be encoded: %w", err)
	}
	return bytesURI(format, b.Bytes()), nil
}

func bytesURI(format string, encoded []byte) string {
	head := "data:image/" + format + ";base64,"
	out := make([]byte, len(head)+base64.StdEncoding.EncodedLen(len(encoded)))
	base64.StdEncoding.Encode(out[copy(out, head):], encoded)
	return string(out)
}

// studio encodes images on all processors while the next are drawn, a bounded number at a time.
type studio struct {
	places chan struct{}
	wg     sync.WaitGroup
	mu     sync.Mutex
	err    error
}

func newStudio() *studio { return &studio{places: make(chan struct{}, 2*runtime.GOMAXPROCS(0))} }

// develop has an image written to *to.
func (s *studio) develop(to *string, encode func() (string, error)) {
	s.places <- struct{}{}
	s.wg.Go(func() {
		uri, err := encode()
		<-s.places
		s.mu.Lock()
		defer s.mu.Unlock()
		*to = uri
		if s.err == nil {
			s.err = err
		}
	})
}

// close waits for all images.
func (s *studio) close() error {
	s.wg.Wait()
	return s.err
}

// imageRequest asks about images in the way of the route: chat messages with the images first, as SGLang's client has them, or for
// SGLang's own route a text with the model's places for images and the images beside it.
func (j *job) imageRequest(text string, images []string) (r bench.Request, err error) {
	if r.TextTokens, err = j.countText(text); err != nil {
		return r, err
	}
	if j.spec.Target.API == bench.APIChat {
		r.Prompt.Messages = imageMessages(images, text, false)
		return r, nil
	}
	r.Prompt.Text = j.placeImages(text, len(images))
	r.Extra = marshal(map[string][]string{"image_data": images})
	return r, nil
}

// part is one part of a message's content.
type part struct {
	Type  string    `json:"type"`
	Text  *string   `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// imageMessages is one message of the user's: images and a text, which comes first or last.
func imageMessages(images []string, text string, textFirst bool) json.RawMessage {
	var parts []part
	for _, uri := range images {
		parts = append(parts, part{Type: "image_url", Image: &imageURL{uri}})
	}
	words := part{Type: "text", Text: &text}
	if textFirst {
		parts = append([]part{words}, parts...)
	} else {
		parts = append(parts, words)
	}
	return marshal([]message{{"user", parts}})
}

// placeImages puts the chat template around a text with so many images before it; where there is none, or it has no place for
// images, "<image>" stands for each, as for one in the original.
func (j *job) placeImages(text string, images int) string {
	if j.in.Template != nil {
		type item struct {
			Type string `json:"type"`
			Text string `json:"text,omitempty"`
		}
		items := make([]item, 0, images+1)
		for range images {
			items = append(items, item{Type: "image"})
		}
		whole, err := j.in.Template(marshal([]message{{"user", append(items, item{"text", text})}}), true)
		switch {
		case err != nil || !strings.Contains(whole, text):
		case j.spec.Strict:
			return whole // its opening token will stand there twice
		default:
			return j.withoutBOS(whole)
		}
	}
	return strings.Repeat("<image>", images) + text
}

// countText counts a text with the chat template around it, where that is known.
func (j *job) countText(text string) (bench.Count, error) {
	tok := j.in.Tokenizer
	if tok == nil {
		return bench.Unknown, nil
	}
	special := true
	if j.in.Template != nil {
		if whole, err := j.in.Template(userMessage(text), true); err == nil {
			text, special = whole, false
		}
	}
	ids, err := tok.Encode(text, special)
	if err != nil {
		return bench.Unknown, fmt.Errorf("the tokenizer failed on a prompt: %w", err)
	}
	return bench.Counted(len(ids)), nil
}

// weigh tells what the images weigh, as they are held in memory until they are sent.
func (j *job) weigh(images, bytes int) {
	const much = 1 << 30
	if bytes > much {
		j.note("%s of %.1f GB in all, as sent, will be held in memory: fewer --num-prompts or a smaller size need less", bench.Number(images, "image"), float64(bytes)/1e9)
	}
}
