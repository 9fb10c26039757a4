package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// FuzzConversationsIndex: where encoding/json finds conversations, the index finds the same ones.
func FuzzConversationsIndex(f *testing.F) {
	for _, seed := range []string{agenticFile, `{"conversations":[]}`, `{"conversations":[1, "a" ,{"b":[2]}],"conversations":[null]}`, `[]`, `{"conversations":{}}`, `{"conversations":[1]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var whole map[string]json.RawMessage
		var want []json.RawMessage
		ok := json.Unmarshal(content, &whole) == nil && whole != nil && whole["conversations"] != nil && json.Unmarshal(whole["conversations"], &want) == nil && want != nil
		found := &rows{r: bytes.NewReader(content), unit: "conversation"}
		err := found.indexMember(json.NewDecoder(bytes.NewReader(content)), "conversations")
		if !ok {
			return
		}
		if err != nil || len(found.at) != len(want) {
			t.Fatalf("indexMember(%q) found %d, %v; want %d", content, len(found.at), err, len(want))
		}
		for i := range want {
			if got, err := found.read(i); err != nil || !bytes.Equal(got, want[i]) {
				t.Errorf("indexMember(%q): element %d = %q, %v; want %q", content, i, got, err, want[i])
			}
		}
	})
}

// FuzzPictures: what is taken for a range of sizes is one, and means the same when it is written out.
func FuzzPictures(f *testing.F) {
	for _, seed := range []string{"4k", "1080p", " 7X9 ", "random:1x2-3x4", "RANDOM:360p-720p", "random:3x4-1x2", "0x1", "x", "random:", "99999x1", "+1x2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		least, most, err := parsePictures(text)
		if err != nil {
			return
		}
		if !least.possible() || !most.possible() || least.width > most.width || least.height > most.height {
			t.Errorf("parsePictures(%q) = %v to %v, which is no range", text, least, most)
		}
		plain := fmt.Sprintf("random:%dx%d-%dx%d", least.height, least.width, most.height, most.width)
		if a, b, err := parsePictures(plain); err != nil || a != least || b != most {
			t.Errorf("parsePictures(%q) = %v, %v, %v; want %v, %v as of %q", plain, a, b, err, least, most, text)
		}
	})
}

// FuzzTimedLine: a line that is taken can be replayed.
func FuzzTimedLine(f *testing.F) {
	for _, seed := range []string{`{"t":1,"in":5,"out":3,"blocks":[1,"x"]}`, `{"t":"1e3","in":5.7,"out":0,"blocks":null}`, `{"t":NaN}`, `{"t":-1,"in":5,"out":1}`, `{"t":1e308,"in":5,"out":1}`, `{"t":"NaN","in":5,"out":1}`} {
		f.Add([]byte(seed))
	}
	names := &bench.TimedTrace{BlockTokens: 16, Seconds: 1, Timestamp: "t", InputLength: "in", OutputLength: "out", HashIDs: "blocks"}
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := readTimedLine(line, names)
		if err == nil && (!(l.at >= 0) || math.IsInf(l.at, 0) || l.input < 1 || l.input > mostTokens || l.output < 0) {
			t.Errorf("readTimedLine(%q) = %+v, which cannot be replayed", line, l)
		}
	})
}
