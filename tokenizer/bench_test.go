package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchText is 2 MB of mixed text: SERVEMARK_BENCH_TEXT names a file; without it fixture lines are repeated, which
// favours the cache.
func benchText(b *testing.B) string {
	if path := os.Getenv("SERVEMARK_BENCH_TEXT"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		return string(data)
	}
	var s strings.Builder
	for _, l := range readLines(b, "testdata/synth/bl_gpt2.jsonl.gz") {
		s.WriteString(l.Text)
		s.WriteByte('\n')
	}
	one := s.String()
	return strings.Repeat(one, 2<<20/len(one)+1)[:2<<20]
}

// docs cuts a text into documents of about 4,000 characters, at line breaks.
func docs(s string) []string {
	var out []string
	for len(s) > 4500 {
		i := strings.IndexByte(s[4000:], '\n')
		if i < 0 {
			break
		}
		out = append(out, s[:4000+i+1])
		s = s[4000+i+1:]
	}
	return append(out, s)
}

func BenchmarkEncode(b *testing.B) {
	text := benchText(b)
	parts := docs(text)
	for file, expected := range fixtures(b) {
		tok := openFixture(b, file)
		name := strings.TrimSuffix(filepath.Base(expected), ".jsonl.gz")
		b.Run(name+"/cold", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var ids []uint32
			for range b.N {
				tok.forget()
				for _, p := range parts {
					ids, _ = tok.AppendEncode(ids[:0], p, false)
				}
			}
		})
		b.Run(name+"/warm", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var ids []uint32
			for range b.N {
				for _, p := range parts {
					ids, _ = tok.AppendEncode(ids[:0], p, false)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for file, expected := range fixtures(b) {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		if strings.HasSuffix(file, ".gz") {
			data = readGzip(b, file)
		}
		b.Run(strings.TrimSuffix(filepath.Base(expected), ".jsonl.gz"), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for range b.N {
				if _, err := FromJSON(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBuiltin(b *testing.B) {
	for range b.N {
		if _, err := Builtin(BuiltinName); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOne measures the file that SERVEMARK_BENCH_FILE names; parity/speed.py runs it.
func BenchmarkOne(b *testing.B) {
	path := os.Getenv("SERVEMARK_BENCH_FILE")
	if path == "" {
		b.Skip("SERVEMARK_BENCH_FILE names no tokenizer.json")
	}
	text := benchText(b)
	parts := docs(text)
	tok := openFixture(b, path)
	var ids []uint32
	encode := func() {
		for _, p := range parts {
			var err error
			if ids, err = tok.AppendEncode(ids[:0], p, false); err != nil {
				b.Fatal(err)
			}
		}
	}
	measure := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			start := cpuTime(b)
			for range b.N {
				f()
			}
			b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N)/1e6, "cpu-ms")
		})
	}
	measure("cold", func() {
		tok.forget()
		encode()
	})
	measure("warm", encode)
	measure("load", func() {
		if _, err := Open(path); err != nil {
			b.Fatal(err)
		}
	})
}
