package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// rows is a file of rows whose places are known and whose bytes are read when asked for.
type rows struct {
	path string
	r    io.ReaderAt
	// unit is what a row is called in notes: "row" of an array or "line" of a file.
	unit string
	at   []place
	file *os.File // to close, or nil
}

// place is where a row lies.
type place struct {
	offset int64
	size   int
	number int // from 1
}

// name says where a row lies, for notes.
func (f *rows) name(i int) string { return fmt.Sprintf("%s %d", f.unit, f.at[i].number) }

// read gives the bytes of row i.
func (f *rows) read(i int) ([]byte, error) {
	b := make([]byte, f.at[i].size)
	if n, err := f.r.ReadAt(b, f.at[i].offset); n < len(b) {
		return nil, fmt.Errorf("%s cannot be read again at %s: %w; it must not change while it is used", f.path, f.name(i), err)
	}
	return b, nil
}

func (f *rows) close() {
	if f.file != nil {
		_ = f.file.Close() // opened for reading only: nothing can be lost
	}
}

// checkFile says what is wrong with a path that should be a readable file.
func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the data set file %s does not exist: check --dataset-path, which is looked up from the working folder", path)
	case err != nil:
		return fmt.Errorf("the data set file cannot be opened: %w", err)
	case info.IsDir():
		return fmt.Errorf("the data set path %s is a folder: name the file in it", path)
	case info.Mode().IsRegular() && info.Size() == 0:
		return fmt.Errorf("the data set file %s is empty: the download may have failed; bring it again", path)
	}
	return nil
}

// open opens a file of rows; a pipe is read into memory whole, as its rows are read more than once.
func open(path, unit string) (*rows, io.Reader, error) {
	if err := checkFile(path); err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("the data set file cannot be opened: %w", err)
	}
	f := &rows{path: path, unit: unit, r: file, file: file}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		return f, io.NewSectionReader(file, 0, info.Size()), nil
	}
	b, err := io.ReadAll(file)
	if err != nil {
		f.close()
		return nil, nil, fmt.Errorf("the data set cannot be read from %s: %w", path, err)
	}
	f.r = bytes.NewReader(b)
	return f, bytes.NewReader(b), nil
}

// openArray indexes a file that is one JSON array. keep says of each element why it is of no use, or "".
func openArray(path string, skipped *skips, keep func(element []byte) (reason string)) (*rows, error) {
	f, r, err := open(path, "row")
	if err != nil {
		return nil, err
	}
	number := 0
	a := &arrayReader{r: r}
	if err := a.skipMark(); err != nil {
		f.close()
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	err = a.each(func(at int64, element []byte) error {
		number++
		if reason := keep(element); reason != "" {
			skipped.add(reason, rowName(number, element))
			return nil
		}
		f.at = append(f.at, place{at, len(element), number})
		return nil
	})
	if err == nil {
		return f, nil
	}
	f.close()
	switch {
	case errors.Is(err, errNotArray):
		return nil, fmt.Errorf("%s is not a JSON array of conversations: %w; a file with one JSON object a line is read by the data set custom", path, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s ends in the middle (%w): the download may be incomplete; bring the file again", path, err)
	}
	return nil, fmt.Errorf("%s is not a JSON array of conversations: %w", path, err)
}

// openLinesOrArray indexes a file of one JSON value a line, or of one array of them.
func openLinesOrArray(path string, skipped *skips, keep func(row []byte) (reason string)) (*rows, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return openLines(path, 0, skipped, keep) // a pipe can be read once only
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the data set file cannot be opened: %w", err)
	}
	defer file.Close() // opened for reading only: nothing can be lost
	start := make([]byte, 64)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(start[:n], []byte("\uFEFF"))), []byte("[")) {
		return openArray(path, skipped, keep)
	}
	return openLines(path, 0, skipped, keep)
}

// skipMark passes over a UTF-8 byte order mark.
func (a *arrayReader) skipMark() error {
	for len(a.buf) < 3 && !a.eof {
		if err := a.more(); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(a.buf, []byte("\uFEFF")) {
		a.drop(3)
	}
	return nil
}

// rowName names an array's element by number and, where it has one, id.
func rowName(number int, element []byte) string {
	name := fmt.Sprintf("row %d", number)
	eachMember(element, func(key string, value []byte) {
		var id string
		if key == "id" && len(value) < 40 && json.Unmarshal(value, &id) == nil {
			name = fmt.Sprintf("row %d id %q", number, id)
		}
	})
	return name
}

// openLines indexes a file of one JSON value a line; blank lines are no rows. keep says of each line why it is of no use,
// or "". It stops after limit rows where limit is positive.
func openLines(path string, limit int, skipped *skips, keep func(line []byte) (reason string)) (*rows, error) {
	f, r, err := open(path, "line")
	if err != nil {
		return nil, err
	}
	br := bufio.NewReaderSize(r, 1<<16)
	var at int64
	for number := 1; limit <= 0 || len(f.at) < limit; number++ {
		line, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			f.close()
			return nil, fmt.Errorf("%s cannot be read: %w", path, err)
		}
		body := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\uFEFF")))
		if len(body) > 0 {
			lead := int64(bytes.Index(line, body))
			if reason := keep(body); reason != "" {
				skipped.add(reason, fmt.Sprintf("%s line %d", path, number))
			} else {
				f.at = append(f.at, place{at + lead, len(body), number})
			}
		}
		at += int64(len(line))
		if err == io.EOF {
			break
		}
	}
	return f, nil
}
