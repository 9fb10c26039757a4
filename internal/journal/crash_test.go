package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

func newReader(s string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(s), 16) }

// writeUntilKilled appends records for ever and says on standard output how many are appended.
func writeUntilKilled(path string) {
	w, err := Create(path, header())
	for i := 0; err == nil; i++ {
		if err = w.Append(record(i)); err == nil {
			_, err = fmt.Println(i + 1)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A process killed in the middle of its run leaves every record that Append had taken.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "JOURNAL_WRITE_UNTIL_KILLED="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := 0
	in := bufio.NewScanner(out)
	for in.Scan() {
		if _, err := fmt.Sscan(in.Text(), &said); err != nil {
			break // the last line may be cut
		}
		if said == 500 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || said < 500 {
		t.Fatalf("the writer ended with %v after %d records, want it killed after 500", err, said)
	}
	run, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Records) < said || !run.Unfinished() || len(run.Faults) > 0 {
		t.Errorf("read %d records, faults %v, unfinished %v; want the %d that were appended and an unfinished run",
			len(run.Records), run.Faults, run.Unfinished(), said)
	}
}

// disk is a file in memory with room for so many bytes.
type disk struct {
	bytes.Buffer
	room int
	// stuck refuses Truncate, as a pipe does.
	stuck bool
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room-d.Len())
	d.Buffer.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error {
	if d.stuck {
		return errors.ErrUnsupported
	}
	d.Buffer.Truncate(int(size))
	return nil
}
func (d *disk) Seek(int64, int) (int64, error) { return 0, nil }
func (d *disk) Sync() error                    { return nil }
func (d *disk) Close() error                   { return nil }

// On a full disk Append says so, loses nothing that was written, and goes on when there is room again.
func TestDiskFull(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		d := &disk{room: 1 << 20, stuck: stuck}
		w := &Writer{file: d, path: "run.jsonl"}
		if err := w.begin(header()); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(record(0)); err != nil {
			t.Fatal(err)
		}
		d.room = d.Len() + 30 // part of the next line fits
		err := w.Append(record(1))
		if err == nil || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), "the 1 record written before is safe") || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("stuck %v: Append(on a full disk) = %v, want an error that names it and what is safe", stuck, err)
		}
		run, err := Read(bytes.NewReader(d.Bytes()))
		if err != nil || len(run.Records) != 1 {
			t.Errorf("stuck %v: after the full disk %+v, %v; want one record", stuck, run, err)
		}
		d.room = 1 << 20
		if err := w.Append(record(2)); err != nil {
			t.Errorf("stuck %v: Append with room again = %v", stuck, err)
		}
		if err := w.Close(End{}); err != nil {
			t.Errorf("stuck %v: Close = %v", stuck, err)
		}
		run, err = Read(bytes.NewReader(d.Bytes()))
		if err != nil || len(run.Records) != 2 || run.End == nil || len(run.Faults) > 1 {
			t.Errorf("stuck %v: finally %d records, %v, %v; want 2 and the end", stuck, len(run.Records), run.Faults, err)
		}
	}
}

func TestCreateOnFullDevice(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no /dev/full here: %v", err)
	}
	w := &Writer{file: f, path: "/dev/full"}
	if err := w.begin(header()); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("writing to /dev/full = %v, want an error that names the full disk", err)
	}
	if err := w.Close(End{}); err == nil {
		t.Error("Close on /dev/full = nil, want an error")
	}
}

func TestClosed(t *testing.T) {
	w := &Writer{file: &disk{room: 1 << 20}, path: "run.jsonl"}
	if err := w.Close(End{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(bench.NewRecord(0)); err == nil {
		t.Error("Append after Close = nil, want an error")
	}
	if err := w.Close(End{}); err != nil {
		t.Errorf("second Close = %v, want nothing", err)
	}
}
