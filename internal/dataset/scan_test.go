package dataset

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// collect reads an array in pieces of so many bytes and checks that every element lies where it is said to.
func collect(t *testing.T, r io.Reader, data string, size int) ([]string, error) {
	t.Helper()
	var got []string
	a := &arrayReader{r: r, size: size}
	err := a.each(func(at int64, element []byte) error {
		if s := data[at : at+int64(len(element))]; s != string(element) {
			t.Errorf("element %d is %q and at its offset stands %q", len(got), element, s)
		}
		got = append(got, string(element))
		return nil
	})
	return got, err
}

// FuzzArray: whatever the input and however it arrives, nothing panics, and for valid JSON the elements are those that
// encoding/json finds.
func FuzzArray(f *testing.F) {
	for _, s := range []string{`[]`, ` [ 1 , "a]b\"" , {"k":[{}]},null ] `, `["\\","\\\"",""]`, `[[[]],{}]`, `[1`, `[1,]`, `{`, `["`, `[1]]`, `[tru,e]`, "\uFEFF[]", broken} {
		f.Add(s, 1)
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, data string, size int) {
		whole, errWhole := collect(t, strings.NewReader(data), data, 0)
		pieces, errPieces := collect(t, iotest.OneByteReader(strings.NewReader(data)), data, 1+size&0xff)
		if diff := cmp.Diff(whole, pieces); diff != "" || (errWhole == nil) != (errPieces == nil) {
			t.Errorf("read whole and in pieces differ: %v, %v\n%s", errWhole, errPieces, diff)
		}
		var want []json.RawMessage
		if json.Unmarshal([]byte(data), &want) != nil || want == nil {
			return
		}
		var elements []string
		if !eachElement([]byte(data), func(v []byte) { elements = append(elements, string(v)) }) {
			t.Errorf("eachElement(%q) = false for valid JSON", data)
		}
		if errWhole != nil || len(whole) != len(want) || len(elements) != len(want) {
			t.Fatalf("%q: %d and %d elements, %v; want %d", data, len(whole), len(elements), errWhole, len(want))
		}
		for i := range want {
			if w := string(want[i]); whole[i] != w || elements[i] != w {
				t.Errorf("element %d = %q and %q, want %q", i, whole[i], elements[i], w)
			}
		}
	})
}

// FuzzMembers: for valid objects the members are those encoding/json finds, the last of a name counting.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b" : [2,{"c":"}"}], "a":"x"}`, `{"\u0061":{}}`, `{"a"}`, `{"a":}`, `{,}`, `{"a":1`, `[]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		got := map[string]string{}
		ok := eachMember([]byte(data), func(k string, v []byte) { got[k] = string(v) })
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(data), &want) != nil || want == nil {
			return
		}
		if !ok || len(got) != len(want) {
			t.Fatalf("eachMember(%q) = %v, %v; want %d members", data, got, ok, len(want))
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Errorf("member %q = %q, want %q", k, got[k], v)
			}
		}
	})
}

func TestArrayReaderPassesReadErrorsOn(t *testing.T) {
	a := &arrayReader{r: iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(`[1,2]`)))}
	if err := a.each(func(int64, []byte) error { return nil }); err == nil || !strings.Contains(err.Error(), iotest.ErrTimeout.Error()) {
		t.Errorf("each = %v, want the reader's error", err)
	}
}

func BenchmarkIndexShareGPT(b *testing.B) {
	row := `{"id":"x","conversations":[{"from":"human","value":"` + strings.Repeat("how many boxes \\\"of\\\" tea are there? ", 20) + `"},{"from":"gpt","value":"` + strings.Repeat("forty boxes, by the list. ", 60) + `"}]},` + "\n"
	data := []byte("[" + strings.Repeat(row, 8000) + `{"id":"last"}]`)
	s := shape{keys: []string{"value"}, byRole: true}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		n := 0
		a := &arrayReader{r: bytes.NewReader(data)}
		if err := a.each(func(_ int64, e []byte) error {
			if s.usable(e) == "" {
				n++
			}
			return nil
		}); err != nil || n != 8000 {
			b.Fatal(n, err)
		}
	}
}
