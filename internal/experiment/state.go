package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// stateFormat is the version of the state file.
const stateFormat = 1

// Begun is the first line of a sweep's state file: what was asked, so that a resumed sweep cannot become another one.
type Begun struct {
	Format int     `json:"servemark_sweep"`
	Points []Point `json:"points"`
	// Asked are the flags that hold at every point.
	Asked map[string][]string `json:"asked"`
	// Target is the server's address, without credentials.
	Target string `json:"target"`
}

// State is the file in which a sweep keeps which points are done: JSON Lines, each written by one call to the system, so that
// a killed sweep loses no more than the point it was at.
type State struct {
	file *os.File
	path string
}

// line is one point that is done.
type line struct {
	Point   *int   `json:"done"`
	Journal string `json:"journal"`
}

// OpenState opens the state file of a sweep, or makes it. It returns the journals of the points that are done, by index. A
// file of another sweep is an error.
func OpenState(path string, b Begun) (*State, map[int]string, error) {
	b.Format = stateFormat
	done := map[int]string{}
	old, err := os.ReadFile(path)
	fresh := errors.Is(err, fs.ErrNotExist) || err == nil && tornStart(old)
	switch {
	case fresh:
	case err != nil:
		return nil, nil, fmt.Errorf("state of the sweep: %w", err)
	default:
		if done, err = readState(old, b); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	if fresh {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("state of the sweep: %w", err)
	}
	s := &State{file: f, path: path}
	if fresh {
		err = s.write(b)
	} else if !bytes.HasSuffix(old, []byte{'\n'}) {
		_, err = f.Write([]byte{'\n'}) // the last line is torn
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return s, done, nil
}

// tornStart reports whether a file holds no more than a part of the first line: the sweep was killed before its first point.
func tornStart(text []byte) bool {
	const start = `{"servemark_sweep":`
	n := min(len(text), len(start))
	return !bytes.ContainsRune(text, '\n') && string(text[:n]) == start[:n]
}

// readState reads what was begun and what is done; a torn last line is left out.
func readState(text []byte, want Begun) (map[int]string, error) {
	done := map[int]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<26)
	for first := true; lines.Scan(); first = false {
		if first {
			var b Begun
			if err := json.Unmarshal(lines.Bytes(), &b); err != nil || b.Format == 0 {
				return nil, errors.New("this is no state of a sweep; name another folder with --dir")
			}
			if b.Format > stateFormat {
				return nil, fmt.Errorf("this state has format %d and this servemark reads up to %d; use a newer servemark", b.Format, stateFormat)
			}
			if !same(b, want) {
				return nil, errors.New("another sweep was begun here (other points, flags or server); repeat its command line to resume it, or name another folder with --dir")
			}
			continue
		}
		var l line
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Point != nil {
			done[*l.Point] = l.Journal
		}
	}
	return done, lines.Err()
}

// same compares what two sweeps ask, by what stands in the file.
func same(a, b Begun) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// Done notes that a point is done and where its journal is.
func (s *State) Done(index int, journal string) error { return s.write(line{&index, journal}) }

func (s *State) write(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = s.file.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("state of the sweep %s: %w", s.path, err)
	}
	return nil
}

// Close closes the file.
func (s *State) Close() error { return s.file.Close() }
