package dataset

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// mmmu: questions with a picture, one {"question":"…","image_1":"…"} a line or a row of a Parquet file, the picture in base64, as a data URI or as a file's path.
// Where the file has more rows than are asked for, they are drawn from it.
func loadMMMU(j *job) error {
	d := &j.spec.Dataset
	lines, done, err := asLines(d.Path)
	if err != nil {
		return err
	}
	defer done()
	f, err := openLines(lines, 0, &j.skipped, func(line []byte) string {
		_, reason := readQuestion(line)
		return reason
	})
	if err != nil {
		return err
	}
	defer f.close()
	if err := j.read("questions of "+d.Path, len(f.at)); err != nil {
		return err
	}
	order := make([]int, len(f.at))
	for i := range order {
		order[i] = i
	}
	if len(order) > d.Rows {
		order = j.rnd.Python.Sample(len(order), d.Rows)
	}
	// One row after the other would be as the original does it; nothing is drawn any more, so they may go side by side.
	requests, reasons := make([]bench.Request, len(order)), make([]string, len(order))
	err = j.each(len(order), func(i int, j *job) error {
		line, err := f.read(order[i])
		if err != nil {
			return err
		}
		q, _ := readQuestion(line)
		uri, err := q.picture(filepath.Dir(d.Path))
		if err != nil {
			reasons[i] = err.Error()
			return nil
		}
		requests[i], err = j.imageRequest("Question: "+q.Question+"\n\nAnswer: ", []string{uri})
		requests[i].OutputTokens = d.OutputTokens
		return err
	})
	if err != nil {
		return err
	}
	for i := range requests {
		if reasons[i] != "" {
			j.skipped.add(reasons[i], f.name(order[i]))
			continue
		}
		j.add(requests[i])
	}
	return nil
}

// question is one row.
type question struct {
	Question string
	Image    string
}

func readQuestion(line []byte) (question, string) {
	var raw struct {
		Question *string         `json:"question"`
		Image    json.RawMessage `json:"image_1"`
	}
	if !json.Valid(line) {
		return question{}, reasonBroken
	}
	if json.Unmarshal(line, &raw) != nil || raw.Question == nil {
		return question{}, "no question"
	}
	q := question{Question: *raw.Question}
	var nested struct {
		Bytes string `json:"bytes"`
	}
	if json.Unmarshal(raw.Image, &q.Image) != nil && json.Unmarshal(raw.Image, &nested) == nil {
		q.Image = nested.Bytes
	}
	if q.Image == "" {
		return q, "no picture image_1"
	}
	return q, ""
}

// picture is the row's picture as a PNG in a data URI; one of another format is written anew, as the original does it.
func (q *question) picture(folder string) (string, error) {
	encoded := q.Image
	if _, after, ok := strings.Cut(encoded, ";base64,"); ok && strings.HasPrefix(encoded, "data:") {
		encoded = after
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		path := q.Image
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if b, err = os.ReadFile(path); err != nil {
			return "", errors.New("its picture is neither base64 nor a file that can be read")
		}
	}
	if bytes.HasPrefix(b, []byte("\x89PNG\r\n")) {
		return bytesURI("png", b), nil
	}
	for _, decode := range []func(io.Reader) (image.Image, error){jpeg.Decode, gif.Decode} {
		if img, err := decode(bytes.NewReader(b)); err == nil {
			return dataURI(img, "png", 0)
		}
	}
	return "", errors.New("its picture is no PNG, JPEG or GIF")
}

func checkMMMU(s *bench.Spec) []error {
	faults := append(checkRows(s), checkImageRoute(s)...)
	d := &s.Dataset
	if d.Path == "" {
		faults = append(faults, errors.New("mmmu needs a file: bring Math/test-*.parquet of the data set MMMU/MMMU (or JSON Lines with question and image_1) and give its path with --dataset-path"))
	}
	if d.OutputTokens < 1 {
		faults = append(faults, fmt.Errorf("the output length is %d tokens: give at least 1", d.OutputTokens))
	}
	return faults
}
