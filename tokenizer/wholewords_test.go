package tokenizer

import "testing"

// TestWholeWordsAreTheVocabulary asks for every token and for words near it: the answer must be the vocabulary's.
func TestWholeWordsAreTheVocabulary(t *testing.T) {
	b := openFixture(t, "testdata/synth/bl_llama3.json.gz").fast.bpe
	if !b.ignoreMerges || b.bytes.whole == nil {
		t.Fatal("the fixture does not ignore merges, so it tests nothing")
	}
	found := 0
	ask := func(word string) {
		if word == "" || len(word) > inlineKey {
			return
		}
		lo, hi := pack(word, 0, len(word))
		got, ok := b.bytes.whole.id(lo, hi)
		want, known := b.voc.id(appendByteChars(nil, word))
		if ok != known || ok && got != want {
			t.Fatalf("id(%q) = %d, %v; the vocabulary has %d, %v", word, got, ok, want, known)
		}
		if ok {
			found++
		}
	}
	for i := range b.voc.entries {
		word := string(appendCharBytes(nil, b.voc.entryText(i)))
		for _, w := range []string{word, word[:len(word)-min(1, len(word))], word + "e", "\x00" + word, word + "\x00"} {
			ask(w)
		}
	}
	if found < len(b.voc.entries) {
		t.Errorf("found %d words in a vocabulary of %d", found, len(b.voc.entries))
	}
}
