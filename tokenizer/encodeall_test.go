package tokenizer

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
)

func TestEncodeAllIsEncode(t *testing.T) {
	tok := openFixture(t, "testdata/synth/bl_llama3.json.gz")
	var texts []string
	for _, l := range readLines(t, "testdata/synth/bl_llama3.jsonl.gz") {
		texts = append(texts, l.Text, l.Text+l.Text)
	}
	for _, n := range []int{0, 1, 2, len(texts)} {
		got, err := tok.EncodeAll(texts[:n], true)
		if err != nil || len(got) != n {
			t.Fatalf("EncodeAll of %d texts: %d lists, %v", n, len(got), err)
		}
		for i, ids := range got {
			if want, _ := tok.Encode(texts[i], true); !slices.Equal(ids, want) {
				t.Errorf("EncodeAll()[%d] of %q = %v, want %v", i, clip(texts[i]), ids, want)
			}
		}
	}
}

func TestEncodeAllGivesWhatStandsBeforeAnError(t *testing.T) {
	tok, err := FromJSON([]byte(`{"model":{"type":"WordLevel","vocab":{"a":0,"b":1},"unk_token":"<none>"}}`))
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.Repeat([]string{"a", "b"}, 50)
	texts[31], texts[77] = "x", "y"
	_, want := tok.Encode("x", false)
	if want == nil {
		t.Fatal("Encode of an unknown word: no error, so this tests nothing")
	}
	if ids, err := tok.EncodeAll(texts, false); len(ids) != 31 || err == nil || err.Error() != want.Error() {
		t.Errorf("EncodeAll: %d lists, %v, want the 31 before the error %v", len(ids), err, want)
	}
}

// BenchmarkEncodeAll shows what a second core gives: the same texts on one and on all.
func BenchmarkEncodeAll(b *testing.B) {
	tok := openFixture(b, "testdata/synth/bl_llama3.json.gz")
	text := benchText(b)
	parts := docs(text)
	for _, cores := range slices.Compact([]int{1, runtime.GOMAXPROCS(0)}) {
		b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			b.SetBytes(int64(len(text)))
			for range b.N {
				if _, err := tok.EncodeAll(parts, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
