package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servemark/servemark/internal/bench"
)

var same = cmp.AllowUnexported(bench.Count{}, bench.Measure{})

func TestMain(m *testing.M) {
	if path := os.Getenv("JOURNAL_WRITE_UNTIL_KILLED"); path != "" {
		writeUntilKilled(path)
	}
	os.Exit(m.Run())
}

func header() Header {
	p := &bench.Plan{Spec: bench.Spec{Dialect: bench.DialectSGLang, Tag: "t"}, Source: "embedded corpus"}
	for i := range 3 {
		p.Requests = append(p.Requests, bench.Request{ID: i, Due: bench.Never, Prompt: bench.Prompt{Text: "a secret prompt"},
			InputTokens: bench.Counted(7), OutputTokens: 5})
	}
	p.Requests[1].Due = 17
	p.Seal()
	return Header{Version: "v1.2.3", Started: time.Date(2026, 11, 5, 10, 30, 0, 123456789, time.UTC), Plan: p,
		Figures: map[string]bench.Measure{"single_stream": bench.Measured(101.5), "other": {}},
		Server:  bench.Server{BaseURL: "http://h:8000", Engine: bench.EngineVLLM, MaxLen: bench.Counted(4096)}}
}

func record(id int) bench.Record {
	r := bench.NewRecord(id)
	r.Admitted, r.Sent, r.Written, r.Header, r.Done = 1, 2, 3, 4, 90
	r.Chunks = []bench.Chunk{{At: 50, Bytes: 300, Tokens: 2}, {At: 60, Bytes: 1, Channel: bench.ChannelReasoning}}
	r.Usage.Completion, r.Streamed, r.Status, r.Text = bench.Counted(4), true, 200, "a secret answer"
	return r
}

// write makes a journal of n records in memory's stead, and returns its bytes.
func write(t *testing.T, h Header, n int, end bool) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Append(record(i)); err != nil {
			t.Fatal(err)
		}
	}
	if end {
		if err := w.Close(End{At: h.Started.Add(time.Minute), Health: &bench.Health{Engine: "net/http", KernelReads: 9, Cores: 2}}); err != nil {
			t.Fatal(err)
		}
	} else {
		w.file.Close()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	h := header()
	smoke := record(0)
	h.Smoke = &smoke
	b := write(t, h, 3, true)
	for _, secret := range []string{"secret prompt", "secret answer"} {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("the journal holds %q though nobody asked for it", secret)
		}
	}
	got, err := Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want := &Run{Header: h, End: &End{At: h.Started.Add(time.Minute)}, Health: &bench.Health{Engine: "net/http", KernelReads: 9, Cores: 2}}
	want.Format, want.Plan = Format, h.Plan.WithoutPrompts()
	smoke.Text = ""
	for i := range 3 {
		r := record(i)
		r.Text = ""
		want.Records = append(want.Records, r)
	}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("Read(written run) differs (-want +got):\n%s", diff)
	}
	if got.Unfinished() {
		t.Error("Unfinished() = true after a clean end")
	}
	if h.Plan.Requests[0].Prompt.Text == "" {
		t.Error("Create changed the caller's plan")
	}
}

func TestKeepsTextsWhenAsked(t *testing.T) {
	h := header()
	h.Plan.Spec.KeepText, h.Plan.Spec.KeepPrompts = true, true
	got, err := Read(bytes.NewReader(write(t, h, 1, true)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Records[0].Text != "a secret answer" || got.Plan.Requests[0].Prompt.Text != "a secret prompt" {
		t.Errorf("texts = %q, %q; want both kept", got.Records[0].Text, got.Plan.Requests[0].Prompt.Text)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.jsonl")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, header()); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("Create(existing) = %v, want an error that says so", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("Create(existing) changed the file to %q", b)
	}
	if _, err := Create(filepath.Join(dir, "no", "run.jsonl"), header()); err == nil || !strings.Contains(err.Error(), "folder does not exist") {
		t.Errorf("Create(in a missing folder) = %v, want an error that says so", err)
	}
	other := filepath.Join(dir, "other.jsonl")
	w, err := Create(other, header())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(End{})
	if info, _ := os.Stat(other); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, want 0600", info.Mode().Perm())
	}
}

// Cut anywhere, a journal gives exactly the records whose lines are whole.
func TestTornAtEachByte(t *testing.T) {
	b := write(t, header(), 3, true)
	headerEnd := bytes.IndexByte(b, '\n')
	for cut := range len(b) + 1 {
		whole := bytes.Count(b[:cut], []byte{'\n'})
		if cut < len(b) && b[cut] == '\n' {
			whole++ // only the line end is missing
		}
		got, err := Read(bytes.NewReader(b[:cut]))
		if cut < headerEnd {
			if err == nil {
				t.Fatalf("Read(first %d bytes) found a header in half of one", cut)
			}
			continue
		}
		if err != nil {
			t.Fatalf("Read(first %d bytes) = %v", cut, err)
		}
		if want := min(whole-1, 3); len(got.Records) != want || (got.Health != nil) != (whole >= 5) || (got.End != nil) != (whole == 6) || len(got.Faults) != 0 {
			t.Fatalf("Read(first %d bytes) = %d records, end %v, faults %v; want %d records", cut, len(got.Records), got.End, got.Faults, want)
		}
		clean := cut == len(b) || b[cut] == '\n' || b[cut-1] == '\n'
		if got.Torn == clean {
			t.Fatalf("Read(first %d bytes).Torn = %v, want %v", cut, got.Torn, !clean)
		}
	}
}

func TestBrokenMiddle(t *testing.T) {
	lines := strings.SplitAfter(string(write(t, header(), 3, true)), "\n")
	lines[2] = "{\"id\":1,\"due\":nonsense}\n"
	lines = append(lines[:4], append([]string{"{\"sample\":{\"gpu\":3}}\n", lines[3], "\n"}, lines[4:]...)...)
	got, err := Read(strings.NewReader(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Records) != 2 || got.End == nil || got.Unknown != 1 || got.Torn {
		t.Errorf("got %d records, end %v, %d unknown, torn %v; want 2, an end, 1, false", len(got.Records), got.End, got.Unknown, got.Torn)
	}
	if len(got.Faults) != 2 || got.Faults[0].Line != 3 || !strings.Contains(got.Faults[1].Cause, "second record of request 2") {
		t.Errorf("faults = %+v, want line 3 and the repeated record", got.Faults)
	}
}

func TestHeaderFaults(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "no servemark journal",
		"{\"backend\":\"vllm\"}\n":               "no servemark journal",
		"{\"servemark_journal\":99}\n":           "newer servemark",
		"{\"servemark_journal\":1}\n":            "no plan",
		"{\"servemark_journal\":1,\"plan\":7}\n": "cannot be read",
	} {
		if _, err := Read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%q) = %v, want an error with %q", in, err, want)
		}
	}
}

// An older or foreign writer leaves fields out and adds others: what is missing is unknown, not zero.
func TestMissingAndUnknownFields(t *testing.T) {
	in := `{"servemark_journal":1,"plan":{"requests":[]},"novelty":[1]}` + "\n" + `{"id":4,"sent":9,"novelty":{"a":1}}` + "\n"
	got, err := Read(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	want := bench.NewRecord(4)
	want.Sent = 9
	if diff := cmp.Diff([]bench.Record{want}, got.Records, same); diff != "" || !got.Unfinished() {
		t.Errorf("Read(sparse record), unfinished %v:\n%s", got.Unfinished(), diff)
	}
}

func TestLongLines(t *testing.T) {
	r := record(0)
	r.Text = strings.Repeat("x", 70<<20)
	b, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	head := []byte("{\"servemark_journal\":1,\"plan\":{}}\n")
	got, err := Read(io.MultiReader(bytes.NewReader(head), bytes.NewReader(b), strings.NewReader("\n{\"id\":1}\n")))
	if err != nil || len(got.Records) != 2 || len(got.Records[0].Text) != 70<<20 {
		t.Errorf("Read(a line of 70 MiB) = %d records, %v", len(got.Records), err)
	}
	l := &lines{in: newReader("short\n" + strings.Repeat("y", 200) + "\nnext\nlast"), limit: 100}
	var words []string
	for range 4 {
		line, err := l.next()
		words = append(words, fmt.Sprintf("%s %v", line, err))
	}
	if diff := cmp.Diff([]string{"short <nil>", " line too long", "next <nil>", "last EOF"}, words); diff != "" {
		t.Errorf("lines with a limit of 100 (-want +got):\n%s", diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"servemark_journal\":1,\"plan\":{\"requests\":[{\"id\":0,\"due\":null}]}}\n{\"id\":0,\"chunks\":[[5,1,0,9]]}\n{\"end\":{}}\n"))
	f.Add([]byte("{\"servemark_journal\":1,\"plan\":{}}\n{\"id\":0}\n{\"id\":0}\n{\"id\""))
	f.Add([]byte("{\"servemark_journal\":1,\"plan\":{}}\n\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		// Law: what a prefix that ends with a line gives is where the whole begins.
		cut := bytes.LastIndexByte(in, '\n') + 1
		if cut <= bytes.IndexByte(in, '\n')+1 {
			return
		}
		part, err := Read(bytes.NewReader(in[:cut]))
		if err != nil {
			t.Fatalf("Read(prefix) = %v though the whole was read", err)
		}
		if n := len(part.Records); n > len(whole.Records) {
			t.Fatalf("the prefix has %d records, the whole %d", n, len(whole.Records))
		} else if diff := cmp.Diff(part.Records, whole.Records[:n], same); diff != "" {
			t.Fatalf("the prefix reads otherwise:\n%s", diff)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	r := record(0)
	for i := range 1000 {
		r.Chunks = append(r.Chunks, bench.Chunk{At: bench.Instant(i) * 1e7, Bytes: 300})
	}
	w, err := Create(filepath.Join(b.TempDir(), "run.jsonl"), header())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(End{}); err != nil {
		b.Fatal(err)
	}
}
