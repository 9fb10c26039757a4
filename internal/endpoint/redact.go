package endpoint

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// redactor takes secrets out of what a server says of itself. It works by the names of members and flags and by the
// looks of values, and also removes the user's own key and header values wherever the server repeats them.
type redactor struct {
	own  []string
	flag *regexp.Regexp // --api-key X, --hf-token=X
	look *regexp.Regexp // hf_…, sk-…, Bearer …
	link *regexp.Regexp // ://user:password@
}

func newRedactor(a Auth) *redactor {
	return &redactor{
		own:  a.secrets(),
		flag: regexp.MustCompile(`(?i)(--?[\w.-]*(?:key|token|secret|password|passwd)[\w.-]*)(=|\s+)('[^']*'|"[^"]*"|\S+)`),
		look: regexp.MustCompile(`\bhf_[A-Za-z0-9]{8,}|\bsk-[A-Za-z0-9_-]{8,}|\bnvapi-[A-Za-z0-9_-]{8,}|(?i)\bbearer\s+\S+`),
		link: regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@`),
	}
}

// secrets lists the values that must not be shown.
func (a Auth) secrets() []string {
	var out []string
	add := func(v string) {
		if v = strings.TrimSpace(v); len(v) >= 8 { // shorter ones would hit words that are no secrets
			out = append(out, v)
		}
	}
	_, key, _ := strings.Cut(a.authorization, " ")
	add(key)
	add(a.authorization)
	for name, values := range a.extra {
		if secretName(name) || http.CanonicalHeaderKey(name) == "Cookie" {
			for _, v := range values {
				add(v)
			}
		}
	}
	return out
}

// secretName reports whether a member or flag of that name holds a secret: by the words in it, but neither tokenizers
// nor numbers of tokens.
func secretName(name string) bool {
	n := strings.ToLower(name)
	for _, word := range []string{"secret", "password", "passwd", "credential", "authorization", "key"} {
		if strings.Contains(n, word) {
			return true
		}
	}
	n = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(n, "tokenizer", ""), "tokens", ""), "tokenize", "")
	return strings.Contains(n, "token")
}

// value returns a decoded JSON value with the secrets replaced. Numbers, booleans and null are kept under any name.
func (r *redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = r.member(name, member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			flag := ""
			if i > 0 {
				flag, _ = v[i-1].(string)
			}
			if _, isText := item.(string); isText && strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && secretName(flag) {
				out[i] = redacted // a command line as a list of words
				continue
			}
			out[i] = r.value(item)
		}
		return out
	}
	return v
}

// member returns the value of a named member.
func (r *redactor) member(name string, v any) any {
	if secretName(name) {
		switch s := v.(type) {
		case string:
			if s != "" {
				return redacted
			}
		case []any, map[string]any:
			return redacted
		}
	}
	return r.value(v)
}

// text returns a text with the secrets in it replaced.
func (r *redactor) text(s string) string {
	for _, own := range r.own {
		s = strings.ReplaceAll(s, own, redacted)
	}
	s = r.flag.ReplaceAllStringFunc(s, func(m string) string {
		parts := r.flag.FindStringSubmatch(m)
		if !secretName(parts[1]) {
			return m
		}
		return parts[1] + parts[2] + redacted
	})
	s = r.look.ReplaceAllString(s, redacted)
	return r.link.ReplaceAllString(s, "://"+redacted+"@")
}

// maxFact bounds the value of one fact, in bytes.
const maxFact = 300

// fact renders a value for printing.
func (r *redactor) fact(v any) string {
	s := r.text(fmt.Sprint(v))
	if len(s) > maxFact {
		s = strings.ToValidUTF8(s[:maxFact], "") + "…"
	}
	return s
}
