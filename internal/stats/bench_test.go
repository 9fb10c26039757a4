package stats

import "testing"

// A run of 1,000 answers of 1,000 tokens each.
func BenchmarkSummarize(b *testing.B) {
	p := planOf(1000, 1000)
	chunks := make([]int, 1000)
	for i := range chunks {
		chunks[i] = 100 + 10*i + i*i%7
	}
	_, records := calm(1000)
	for i := range records {
		records[i] = success(i, records[i].Sent, 1000, chunks...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if s := Summarize(p, records, Options{}); s.ITL.N != 999_000 {
			b.Fatalf("ITL n = %d", s.ITL.N)
		}
	}
}
