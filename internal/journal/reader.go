package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/servemark/servemark/internal/bench"
)

// Run is what a journal holds.
type Run struct {
	Header
	Records []bench.Record
	// End is nil where the writer did not come to its end, Health where the file has none.
	End    *End
	Health *bench.Health
	// Torn is true where the last line is only the start of one: the writer was killed while it wrote.
	Torn bool
	// Faults are lines in the middle that could not be used; the rest of the journal is unharmed.
	Faults []Fault
	// Unknown counts lines of a kind this version does not know; a newer one may have written them.
	Unknown int
}

// Fault is a line that could not be used, and why.
type Fault struct {
	Line  int // from 1
	Cause string
}

// Unfinished reports whether the run was cut short.
func (r *Run) Unfinished() bool { return r.End == nil || r.End.Interrupted }

// maxLine bounds one line: a header with every prompt of a large run, or a record with a long answer, is far below.
const maxLine = 1 << 30

// Open reads the journal of that name.
func Open(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Read reads a journal. It fails where the first line is no header of a known format, or where reading itself fails; broken
// lines after that are in Faults and Torn. Fields it does not know are ignored, and those a file lacks keep the meaning "unknown".
func Read(from io.Reader) (*Run, error) {
	lines := &lines{in: bufio.NewReaderSize(from, 1<<16), limit: maxLine}
	first, err := lines.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	r := &Run{}
	if err := r.header(first); err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	for n := 2; ; n++ {
		line, err := lines.next()
		torn := errors.Is(err, io.EOF)
		if err != nil && !torn && !errors.Is(err, errLong) {
			return nil, fmt.Errorf("reading line %d: %w", n, err)
		}
		if errors.Is(err, errLong) {
			r.Faults = append(r.Faults, Fault{n, fmt.Sprintf("longer than %d bytes", lines.limit)})
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if cause := r.line(line, seen); cause != "" && torn {
				r.Torn = true
			} else if cause != "" {
				r.Faults = append(r.Faults, Fault{n, cause})
			}
		}
		if torn {
			return r, nil
		}
	}
}

// header takes the first line.
func (r *Run) header(line []byte) error {
	var probe struct {
		Format *int `json:"servemark_journal"`
	}
	if err := json.Unmarshal(line, &probe); err != nil || probe.Format == nil {
		return errors.New("this is no servemark journal, or its first line is broken; a journal starts with {\"servemark_journal\": …} " +
			"(a result line of --output-file is something else)")
	}
	if *probe.Format > Format || *probe.Format < 1 {
		return fmt.Errorf("this journal has format %d and this servemark reads up to %d; use a newer servemark", *probe.Format, Format)
	}
	smoke := bench.NewRecord(0)
	h := struct {
		*Header
		Smoke *json.RawMessage `json:"smoke"`
	}{Header: &r.Header}
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("the header of this journal cannot be read: %w", err)
	}
	if r.Plan == nil {
		return errors.New("the header of this journal holds no plan")
	}
	if h.Smoke != nil && string(*h.Smoke) != "null" {
		if err := json.Unmarshal(*h.Smoke, &smoke); err != nil {
			return fmt.Errorf("the header of this journal cannot be read: smoke: %w", err)
		}
		r.Smoke = &smoke
	}
	return nil
}

// line takes one line after the first and returns why it cannot be used, if so.
func (r *Run) line(line []byte, seen map[int]bool) (cause string) {
	var probe struct {
		ID     *int          `json:"id"`
		End    *End          `json:"end"`
		Health *bench.Health `json:"health"`
	}
	rec := bench.NewRecord(0)
	err := json.Unmarshal(line, &probe)
	switch {
	case err != nil:
		return err.Error()
	case probe.End != nil:
		r.End = probe.End
		return ""
	case probe.Health != nil:
		r.Health = probe.Health
		return ""
	case probe.ID == nil:
		r.Unknown++
		return ""
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return err.Error()
	}
	if seen[rec.ID] {
		return fmt.Sprintf("a second record of request %d; the first one counts", rec.ID)
	}
	seen[rec.ID] = true
	r.Records = append(r.Records, rec)
	return ""
}

// errLong marks a line above the limit; it has been skipped.
var errLong = errors.New("line too long")

// lines reads lines of any length up to a limit.
type lines struct {
	in    *bufio.Reader
	limit int
	buf   []byte
}

// next returns the next line without its end, until the following call. The last line comes with io.EOF, empty where the file
// ends with a line end.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	long := false
	for {
		piece, err := l.in.ReadSlice('\n')
		if !long && len(l.buf)+len(piece) > l.limit {
			long, l.buf = true, nil
		}
		if !long {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!long || !errors.Is(err, io.EOF)):
			return l.buf, err
		case long:
			return nil, errLong
		}
		return bytes.TrimSuffix(l.buf, []byte{'\n'}), nil
	}
}
