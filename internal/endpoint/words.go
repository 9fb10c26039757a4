package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxWords bounds the server's words in a Failure, in bytes.
const maxWords = 500

// wordsOf finds the server's own words in an error body or event, in any of the shapes that servers use:
// {"error": {"message": …}}, {"error": "…"}, {"detail": …}, {"message": …}, else a web page's title or the first line of text.
func wordsOf(body []byte) string {
	if w := words(bytes.TrimSpace(body)); w != "" {
		return w
	}
	if w := pageTitle(body); w != "" {
		return "a web page, " + strconv.Quote(w)
	}
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return bound(string(line))
		}
	}
	return ""
}

// pageTitle is what a web page calls itself, or "".
func pageTitle(body []byte) string {
	_, rest, found := strings.Cut(string(body), "<title>")
	name, _, closed := strings.Cut(rest, "</title>")
	if !found || !closed {
		return ""
	}
	return bound(strings.TrimSpace(name))
}

// words returns the message of a JSON value, or "" where there is none.
func words(raw json.RawMessage) string {
	if s := str(raw); s != "" {
		return bound(s)
	}
	if l := list(raw); l != nil {
		return bound(listWords(l))
	}
	o := object(raw)
	for _, key := range []string{"error", "detail", "message", "msg", "errors"} {
		if !says(o[key]) {
			continue
		}
		if w := words(o[key]); w != "" {
			if more := str(object(o["metadata"])["raw"]); more != "" { // OpenRouter: the provider's own words
				w += ": " + more
			}
			return bound(w)
		}
		return bound(string(o[key]))
	}
	return ""
}

// listWords joins the parts of a list of faults, as FastAPI sends it: [{"loc": ["body", "x"], "msg": "…"}].
func listWords(l []json.RawMessage) string {
	var parts []string
	for _, raw := range l {
		w := words(raw)
		var loc []string
		for _, step := range list(object(raw)["loc"]) {
			loc = append(loc, strings.Trim(string(step), `"`))
		}
		if w != "" && loc != nil {
			w = fmt.Sprintf("%s: %s", strings.Join(loc, "."), w)
		}
		if w != "" {
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, "; ")
}

// bound cuts text to maxWords bytes at the border of a character. Control characters stay: whoever shows the text
// escapes them.
func bound(s string) string {
	if len(s) <= maxWords {
		return s
	}
	s = s[:maxWords-len("…")]
	for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if len(s) > 0 && s[len(s)-1] >= utf8.RuneSelf { // the start byte of the character that was cut
		s = s[:len(s)-1]
	}
	return s + "…"
}
