package dataset

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

func images(change func(*bench.Spec)) *bench.Spec {
	return spec("image", func(s *bench.Spec) {
		s.Target.API = bench.APIChat
		s.Dataset.Rows, s.Dataset.Images = 4, &bench.Images{Count: 2, Resolution: "20x30", Format: "jpeg"}
		if change != nil {
			change(s)
		}
	})
}

func TestImagesHaveTheAskedSizeAndTexts(t *testing.T) {
	for _, tc := range []struct {
		resolution, format string
		blank              bool
		width, height      int
		mean               float64
	}{
		{"20x30", "jpeg", false, 30, 20, 127}, {"20x30", "png", true, 30, 20, 255}, {"360p", "jpeg", true, 640, 360, 255},
		{" 7X9 ", "png", false, 9, 7, 127}, {"random:5x6-5x6", "png", true, 6, 5, 255},
	} {
		s := images(func(s *bench.Spec) {
			s.Dataset.Images.Resolution, s.Dataset.Images.Format, s.Dataset.Images.Blank = tc.resolution, tc.format, tc.blank
		})
		for name, in := range map[string]Inputs{"tokenizer": {Tokenizer: english(1)}, "none": {Calibration: Calibration{TokensPerWord: 2}}} {
			set := must(t, s, in)
			for i := range set.Requests {
				r := &set.Requests[i]
				text, uris := imagesOf(t, r)
				if len(uris) != 2 || r.InputTokens.Known() || r.TemplatedTokens.Known() {
					t.Errorf("%s, %s: row %d has %d images and counts %v, %v; want 2 and none, as the server alone knows", tc.resolution, name, i, len(uris), r.InputTokens, r.TemplatedTokens)
				}
				if want := bench.Counted(65); name == "tokenizer" && r.TextTokens != want { // 64 and one special
					t.Errorf("%s: row %d has a text of %v tokens, want %v", tc.resolution, i, r.TextTokens, want)
				}
				if n := len(strings.Fields(text)); name == "none" && n != 32 {
					t.Errorf("%s: row %d has %d words without a tokenizer, want 64/2", tc.resolution, i, n)
				}
				for _, uri := range uris {
					sha := ""
					if tc.format == "png" {
						sha = "any"
					}
					err := samePicture(uri, "data:image/"+tc.format+";base64", [2]int{tc.width, tc.height}, sha, tc.mean)
					if sha != "" && err != nil && strings.Contains(err.Error(), "hash") {
						err = nil // the pixels are compared with the original's elsewhere
					}
					if err != nil && !(strings.Contains(err.Error(), "mean") && !tc.blank) {
						t.Errorf("%s %s: %v", tc.resolution, tc.format, err)
					}
				}
			}
		}
	}
}

func TestImagesOnSGLangsOwnRoute(t *testing.T) {
	s := images(func(s *bench.Spec) { s.Target.API = bench.APIGenerate })
	for want, template := range map[string]func(json.RawMessage, bool) (string, error){"<image><image>": nil, "<user><img><img>": imageTemplate} {
		set := must(t, s, Inputs{Tokenizer: english(1), Template: template, BOS: "<s>"})
		text, uris := imagesOf(t, &set.Requests[0])
		if !strings.HasPrefix(text, want) || len(uris) != 2 {
			t.Errorf("prompt = %.40q with %d images, want it to begin with %q, and 2", text, len(uris), want)
		}
	}
}

func TestImageFaults(t *testing.T) {
	for _, tc := range []struct {
		change func(*bench.Spec)
		want   string
	}{
		{func(s *bench.Spec) { s.Dataset.Images.Resolution = "1080" }, `"1080" is no image size`},
		{func(s *bench.Spec) { s.Dataset.Images.Resolution = "0x4" }, "is no image size"},
		{func(s *bench.Spec) { s.Dataset.Images.Resolution = "70000x4" }, "is no image size"},
		{func(s *bench.Spec) { s.Dataset.Images.Resolution = "random:4x4" }, "no range of image sizes"},
		{func(s *bench.Spec) { s.Dataset.Images.Resolution = "random:8x4-7x9" }, "must not be higher"},
		{func(s *bench.Spec) { s.Dataset.Images.Format = "bmp" }, "give jpeg or png"},
		{func(s *bench.Spec) { s.Dataset.Images.Count = 0 }, "number of images is 0"},
		{func(s *bench.Spec) { s.Target.API = bench.APICompletions }, "choose a chat backend"},
		{func(s *bench.Spec) { s.Dataset.Images = nil }, "without its settings"},
	} {
		if _, err := build(images(tc.change), Inputs{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v lacks %q", err, tc.want)
		}
	}
}

func TestMMMUQuestions(t *testing.T) {
	black, err := dataURI(canvas(picture{3, 2}, make([]byte, 18)), "png", 0)
	if err != nil {
		t.Fatal(err)
	}
	photo, err := dataURI(canvas(picture{3, 2}, make([]byte, 18)), "jpeg", 90)
	if err != nil {
		t.Fatal(err)
	}
	_, raw, _ := strings.Cut(black, ",")
	lines := fmt.Sprintf(`{"question":"One?","image_1":%q}
{"question":"Two?","image_1":%q}
{"question":"Three?","image_1":{"bytes":%q,"path":"x.png"}}
{"question":"Four?","image_1":"four.png"}
{"question":"None?","image_1":null}
{"question":"Odd?","image_1":"AAAA"}
{"image_1":"AAAA"}
`, black, photo, raw)
	path := file(t, "math.jsonl", lines)
	png, err := base64.StdEncoding.DecodeString(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "four.png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
	mmmu := func(change func(*bench.Spec)) *bench.Spec {
		return spec("mmmu", func(s *bench.Spec) {
			s.Target.API, s.Dataset.Path = bench.APIChat, path
			if change != nil {
				change(s)
			}
		})
	}
	set := must(t, mmmu(nil), Inputs{Tokenizer: english(0)})
	for i, name := range []string{"One", "Two", "Three", "Four"} {
		text, uris := imagesOf(t, &set.Requests[i])
		if want := "Question: " + name + "?\n\nAnswer: "; text != want || len(uris) != 1 || set.Requests[i].OutputTokens != 16 {
			t.Errorf("row %d = %q with %d images and %d tokens, want %q, 1, 16", i, text, len(uris), set.Requests[i].OutputTokens, want)
		}
		if err := samePicture(uris[0], "data:image/png;base64", [2]int{3, 2}, "any", 0); err == nil || !strings.Contains(err.Error(), "hash") {
			t.Errorf("row %d: %v", i, err)
		}
	}
	notes := strings.Join(set.Notes, "\n")
	for _, want := range []string{"no picture image_1", "no PNG, JPEG or GIF", "no question", "and 4 found"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q lack %q", notes, want)
		}
	}
	two := must(t, mmmu(func(s *bench.Spec) { s.Dataset.Rows = 2 }), Inputs{})
	if len(two.Requests) > 2 {
		t.Errorf("%d rows, want at most the 2 asked for", len(two.Requests))
	}
	if _, err := build(mmmu(func(s *bench.Spec) { s.Dataset.Path = "" }), Inputs{}); err == nil || !strings.Contains(err.Error(), "test-*.parquet") {
		t.Errorf("no path: error %v does not say which file to bring", err)
	}
}

func BenchmarkImages1080p(b *testing.B) {
	s := images(func(s *bench.Spec) {
		s.Dataset.Rows, s.Dataset.Images.Count, s.Dataset.Images.Resolution = 8, 1, "1080p"
	})
	for b.Loop() {
		if _, err := build(s, Inputs{}); err != nil {
			b.Fatal(err)
		}
	}
}
