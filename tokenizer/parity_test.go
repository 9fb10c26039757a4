package tokenizer

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixtureLine is what the reference library made of one text.
type fixtureLine struct {
	Text       string   `json:"text"`
	IDs        []uint32 `json:"ids"`
	IDsSpecial []uint32 `json:"ids_special"`
	Decode     string   `json:"decode"`
	DecodeSkip string   `json:"decode_skip"`
}

func readGzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

func readLines(t testing.TB, path string) []fixtureLine {
	t.Helper()
	var lines []fixtureLine
	s := bufio.NewScanner(strings.NewReader(string(readGzip(t, path))))
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		var l fixtureLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// fixtures lists the tokenizers in testdata that have their expected lines, and those in SERVEMARK_TOKENIZERS (a
// directory of NAME.json or NAME.tiktoken) that have expected lines here.
func fixtures(t testing.TB) map[string]string {
	t.Helper()
	found := map[string]string{}
	paths, err := filepath.Glob("testdata/*/*.jsonl.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, p := range paths {
		base := filepath.Join(os.Getenv("SERVEMARK_TOKENIZERS"), strings.TrimSuffix(filepath.Base(p), ".jsonl.gz"))
		for _, file := range []string{strings.TrimSuffix(p, "l.gz") + ".gz", base + ".json", base + ".tiktoken"} {
			if _, err := os.Stat(file); err == nil {
				found[file] = p
				break
			}
		}
	}
	return found
}

func openFixture(t testing.TB, path string) *Tokenizer {
	t.Helper()
	var tok *Tokenizer
	var err error
	if strings.HasSuffix(path, ".gz") {
		tok, err = FromJSON(readGzip(t, path))
	} else {
		tok, err = Open(path)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return tok
}

func TestParity(t *testing.T) {
	for file, expected := range fixtures(t) {
		t.Run(strings.TrimSuffix(filepath.Base(expected), ".jsonl.gz"), func(t *testing.T) {
			t.Parallel()
			tok := openFixture(t, file)
			checkLines(t, tok, readLines(t, expected))
		})
	}
}

func checkLines(t *testing.T, tok *Tokenizer, lines []fixtureLine) {
	t.Helper()
	bad := 0
	for _, l := range lines {
		ids, err := tok.Encode(l.Text, false)
		special, err2 := tok.Encode(l.Text, true)
		dec, err3 := tok.Decode(l.IDs, false)
		skip, err4 := tok.Decode(l.IDs, true)
		for _, e := range []error{err, err2, err3, err4} {
			if e != nil {
				t.Fatalf("%q: %v", clip(l.Text), e)
			}
		}
		switch {
		case !slices.Equal(ids, l.IDs):
			t.Errorf("Encode(%q, false) = %v, want %v", clip(l.Text), ids, l.IDs)
		case !slices.Equal(special, l.IDsSpecial):
			t.Errorf("Encode(%q, true) = %v, want %v", clip(l.Text), special, l.IDsSpecial)
		case dec != l.Decode:
			t.Errorf("Decode(%v, false) = %q, want %q", l.IDs, dec, l.Decode)
		case skip != l.DecodeSkip:
			t.Errorf("Decode(%v, true) = %q, want %q", l.IDs, skip, l.DecodeSkip)
		default:
			continue
		}
		if bad++; bad >= 5 {
			t.Fatal("more lines differ")
		}
	}
	if len(lines) == 0 {
		t.Error("no lines")
	}
}
