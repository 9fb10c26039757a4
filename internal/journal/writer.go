package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/servemark/servemark/internal/bench"
)

// Writer appends a run's records to its journal. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	file file
	path string
	// size is how much of the file is whole lines; a write that stopped halfway is cut back to it.
	size     int64
	records  int
	torn     bool // the file ends within a line
	keepText bool
	closed   bool
}

// file is the part of os.File that a Writer needs.
type file interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
	Sync() error
	Close() error
}

// Create makes a journal, readable by its owner alone, and writes the header. It never overwrites: a path that exists is an
// error. Prompts and texts are left out as the plan's Spec says.
func Create(path string, h Header) (*Writer, error) {
	if h.Plan == nil {
		return nil, errors.New("journal: header without a plan")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("journal %s exists already, and a run is never written over; move it away or name another file", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("journal %s cannot be made: its folder does not exist; make the folder or name another file", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("journal %s cannot be made: no permission to write there; name a file in a folder of yours", path)
	case err != nil:
		return nil, fmt.Errorf("journal %s cannot be made: %w", path, err)
	}
	w := &Writer{file: f, path: path, keepText: h.Plan.Spec.KeepText}
	if err := w.begin(h); err != nil {
		f.Close()
		os.Remove(path) // it held nothing but a torn header
		return nil, err
	}
	return w, nil
}

func (w *Writer) begin(h Header) error {
	h.Format = Format
	if !h.Plan.Spec.KeepPrompts {
		h.Plan = h.Plan.WithoutPrompts()
	}
	if h.Smoke != nil && !w.keepText {
		smoke := *h.Smoke
		smoke.Text = ""
		h.Smoke = &smoke
	}
	return w.line(h)
}

// Append writes one record with a single call to the system: once Append has returned, the record outlives this process. An
// error names what is wrong with the file; all records appended before are still in it, and a later Append may succeed.
func (w *Writer) Append(r bench.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("journal %s is closed", w.path)
	}
	if !w.keepText {
		r.Text = ""
	}
	if err := w.line(&r); err != nil {
		return err
	}
	w.records++
	return nil
}

// Close writes the client's health, where it is given, and the end, makes the disk keep the file and closes it. A second Close does nothing.
func (w *Writer) Close(e End) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	var err error
	if e.Health != nil {
		err = w.line(struct {
			Health *bench.Health `json:"health"`
		}{e.Health})
	}
	if endErr := w.line(struct {
		End End `json:"end"`
	}{e}); err == nil {
		err = endErr
	}
	if syncErr := w.file.Sync(); err == nil && syncErr != nil {
		err = w.fault(syncErr)
	}
	if closeErr := w.file.Close(); err == nil && closeErr != nil {
		err = w.fault(closeErr)
	}
	return err
}

// Path returns the journal's file name.
func (w *Writer) Path() string { return w.path }

// line writes v as one line. What was written of a line that did not fit is taken back.
func (w *Writer) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal %s: %w", w.path, err)
	}
	b = append(b, '\n')
	if w.torn {
		b = append([]byte{'\n'}, b...)
	}
	n, err := w.file.Write(b)
	if err == nil {
		w.size += int64(n)
		w.torn = false
		return nil
	}
	if n > 0 && w.file.Truncate(w.size) == nil {
		w.file.Seek(w.size, io.SeekStart)
	} else if n > 0 {
		w.torn = true // a device or a pipe: the torn line stays, and the next one begins anew
	}
	return w.fault(err)
}

// fault words an error of the system.
func (w *Writer) fault(err error) error {
	if full(err) {
		return fmt.Errorf("journal %s: the disk (or the quota) is full%s; free some space: %w",
			w.path, w.saved(), err)
	}
	return fmt.Errorf("journal %s cannot be written%s: %w", w.path, w.saved(), err)
}

// saved says what was written before a fault, if anything was.
func (w *Writer) saved() string {
	if w.records == 0 {
		return ""
	}
	return fmt.Sprintf("; the %s written before %s safe", bench.Number(w.records, "record"), bench.Agree(w.records, "is", "are"))
}
