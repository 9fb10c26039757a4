package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// DefaultFileName is where SGLang's client puts its line when it is not told: backend, month and day, number of prompts, and
// lengths (and images) or the name of the data set.
func DefaultFileName(spec *bench.Spec, now time.Time) string {
	backend := spec.Target.Backend
	if backend == "" {
		backend = string(spec.Target.API)
	}
	data := &spec.Dataset
	name := fmt.Sprintf("%s_%s_%d_", backend, now.Format("0102"), data.Rows)
	if v := data.Images; v != nil {
		return name + fmt.Sprintf("%d_%d_%dimgs_%s.jsonl", data.InputTokens, data.OutputTokens, v.Count, v.Resolution)
	}
	if strings.HasPrefix(data.Name, "random") {
		return name + fmt.Sprintf("%d_%d.jsonl", data.InputTokens, data.OutputTokens)
	}
	return name + data.Name + ".jsonl"
}

// CheckAppend reports whether AppendLine will be able to write to path, without leaving anything there: for before the run.
func CheckAppend(path string) error {
	_, missing := os.Lstat(path)
	f, err := openAppend(path)
	if err != nil {
		return err
	}
	f.Close()
	if errors.Is(missing, fs.ErrNotExist) {
		os.Remove(path)
	}
	return nil
}

// AppendLine appends a line to a file, which it makes, readable by its owner alone, where it does not exist. Where the file
// ends within a line (a writer that was killed), the new line starts on its own.
func AppendLine(path string, line []byte) (err error) {
	f, err := openAppend(path)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("result file %s: %w", path, closeErr)
		}
	}()
	out := append(append(make([]byte, 0, len(line)+2), line...), '\n')
	if torn(f) {
		out = append([]byte{'\n'}, out...)
	}
	if _, err := f.Write(out); err != nil {
		return fmt.Errorf("result file %s: the line could not be written whole (is the disk full?): %w", path, err)
	}
	return nil
}

// openAppend opens for appending, and reading where that is allowed (for the look at the last byte).
func openAppend(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("result file %s: its folder does not exist; make it, or name another file", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("result file %s: no permission to write; name another file", path)
	case err != nil:
		return nil, fmt.Errorf("result file %s: %w; name another file", path, err)
	}
	return f, nil
}

// torn reports whether a file's last byte is something other than a line end.
func torn(f *os.File) bool {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return false
	}
	var last [1]byte
	n, _ := f.ReadAt(last[:], end-1)
	return n == 1 && last[0] != '\n'
}
