package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/journal"
)

// log is the journal of a run; without a file it takes everything and keeps nothing.
type log struct {
	s       *session
	w       *journal.Writer
	missing int // records that could not be written
	kept    int
}

// checkJournal refuses a journal that was asked for and cannot be kept, before anything is sent.
func (s *session) checkJournal() error {
	path := s.job.journal
	if path == "" || path == "-" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("--journal %s exists already: name another file, or remove it", path)
	case err != nil:
		return fmt.Errorf("--journal %s cannot be written: %w", path, err)
	}
	f.Close()
	return os.Remove(path)
}

func (l *log) open(now time.Time) {
	path := l.s.job.journal
	if path == "-" {
		return
	}
	if path == "" {
		path = l.s.journalName(now)
	}
	w, err := journal.Create(path, journal.Header{Version: version(), Started: now, Plan: l.s.plan, Server: l.s.server, Smoke: l.s.smoke, Figures: l.s.figures})
	if err != nil {
		l.s.warn("warning: no journal is kept: %s", safe(err.Error()))
		return
	}
	l.w = w
}

// journalName is beside the output file, or here.
func (s *session) journalName(now time.Time) string {
	stem := "servemark"
	if s.job.output != "" {
		stem = strings.TrimSuffix(s.job.output, filepath.Ext(s.job.output))
	}
	name := fmt.Sprintf("%s-%s.journal", stem, now.Format("20060102-150405"))
	for i := 2; exists(name); i++ {
		name = fmt.Sprintf("%s-%s-%d.journal", stem, now.Format("20060102-150405"), i)
	}
	return name
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// append writes a record; the first failure is told, and the run goes on with what is in memory.
func (l *log) append(r bench.Record) {
	if l.w == nil {
		return
	}
	err := l.w.Append(r)
	if err == nil {
		l.kept++
		return
	}
	if l.missing == 0 {
		l.s.warn("warning: the journal has a gap, the run goes on: %s", safe(err.Error()))
	}
	l.missing++
}

func (l *log) close(e journal.End) {
	if l.w == nil {
		return
	}
	if err := l.w.Close(e); err != nil {
		l.s.warn("warning: %s", safe(err.Error()))
	}
	if l.missing > 0 {
		l.s.warn("warning: the journal %s lacks %s; the report below has them all", safe(l.w.Path()), bench.Part(l.missing, l.missing+l.kept, "request"))
		return
	}
	l.s.journalPath = l.w.Path()
}

// sayJournal says where a complete journal lies.
func (s *session) sayJournal() {
	if s.journalPath != "" {
		s.say("journal: %s (servemark report %s prints this again)", safe(s.journalPath), safe(shellWord(s.journalPath)))
	}
}
