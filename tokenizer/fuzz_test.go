package tokenizer

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzParse feeds every reader of files: none may panic or take memory out of proportion, and what loads must encode.
func FuzzParse(f *testing.F) {
	for _, s := range sourceSeeds(f) {
		f.Add(s)
	}
	f.Add([]byte(`{"model":{"type":"WordLevel","vocab":{"a":0,"\u00e9":1},"unk_token":"a"},"added_tokens":[{"content":"<s>","special":true}]}`))
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a+|[^\\s]"},"behavior":"Isolated","invert":false}}`))
	f.Add([]byte(`{"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1.5]]},"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAA="}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tok *Tokenizer
		var err error
		if bytes.HasPrefix(data, []byte("GGUF")) {
			var g *gguf
			if g, err = readGGUF(bytes.NewReader(data), int64(len(data))); err == nil {
				tok, err = fromGGUF(g)
			}
		} else {
			tok, err = parse(data, nil)
		}
		if err != nil {
			return
		}
		ids, err := tok.Encode("ab é 1\n<s>", true)
		if err != nil {
			return
		}
		if _, err := tok.Decode(ids, false); err != nil {
			t.Errorf("Decode(%v): %v", ids, err)
		}
		tok.Fingerprint()
	})
}

// FuzzEncode checks what must hold for any text: the built-in tokenizer gives it back, streams give what Decode gives,
// words from the cache equal words merged anew, and broken UTF-8 counts as U+FFFD.
func FuzzEncode(f *testing.F) {
	tok, err := Builtin(BuiltinName)
	if err != nil {
		f.Fatal(err)
	}
	slow := &Tokenizer{model: tok.model, norm: tok.norm, pre: tok.pre, added: tok.added, post: tok.post, dec: tok.dec}
	for _, s := range []string{"", "a", "<|user|>hi<|assistant|>", "\xff\xfe", "é\u0301 漢字 🙂", strings.Repeat("ab", 100), " \n\n x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ids, err := tok.Encode(s, false)
		if err != nil {
			t.Fatal(err)
		}
		valid := string(appendValid(nil, []byte(s)))
		if got, _ := tok.Decode(ids, false); got != valid {
			t.Errorf("Decode(Encode(%q)) = %q", s, got)
		}
		if again, _ := tok.Encode(valid, false); !slices.Equal(again, ids) {
			t.Errorf("Encode(%q) = %v, then %v", s, ids, again)
		}
		checkStream(t, tok, ids, false)
		e := &encoder{t: slow, cache: newWordCache()}
		if want, err := e.text(nil, valid); err != nil || !slices.Equal(want, ids) {
			t.Errorf("Encode(%q) = %v, the reference path gives %v, %v", s, ids, want, err)
		}
	})
}

func TestAppendValid(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb": "a\uFFFDb", "\xe4\xb8": "\uFFFD", "\xe4\xb8x": "\uFFFDx", "\xf0\x9f\x99\x82": "🙂", "\xc0\x80": "\uFFFD\uFFFD",
		"\xed\xa0\x80": "\uFFFD\uFFFD\uFFFD", "\xf0\x9f\x99": "\uFFFD", "\xf5\x80": "\uFFFD\uFFFD", "ok": "ok",
	} {
		if got := string(appendValid(nil, []byte(in))); got != want || !utf8.ValidString(got) {
			t.Errorf("appendValid(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestLongWords bounds the time of words without a place to cut: near-linear, not quadratic.
func TestLongWords(t *testing.T) {
	size := 1 << 20
	if os.Getenv("SERVEMARK_LONG") != "" {
		size = 16 << 20
	}
	for _, name := range []string{"bl_llama3", "sp_llama2", "uni_t5", "bl_deepseek", "wp_uncased"} {
		tok := openFixture(t, "testdata/synth/"+name+".json.gz")
		for _, unit := range []string{"a", "ab", "the", " ", "中", "\u0301"} {
			text := strings.Repeat(unit, size/len(unit)/8)
			start := time.Now()
			if _, err := tok.Encode(text, false); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("%s: Encode(%q × %d) took %v", name, unit, len(text)/len(unit), d)
			}
		}
	}
}
