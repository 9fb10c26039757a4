package endpoint

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
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

// secrets lists the values that must not be shown, longest first: the key in each form in which a server may repeat it, the
// password of an address, and the values of extra headers, but for short ones under harmless names, which would hit words
// that are no secrets.
func (a Auth) secrets() []string {
	var out []string
	add := func(v string, least int) {
		if v = strings.TrimSpace(v); len(v) >= least {
			out = append(out, v)
		}
	}
	scheme, key, _ := strings.Cut(a.authorization, " ")
	add(key, 4)
	add(a.authorization, 4)
	if strings.EqualFold(scheme, "basic") {
		if plain, err := base64.StdEncoding.DecodeString(key); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			add(password, 4)
		}
	}
	for name, values := range a.extra {
		least := 8
		if secretName(name) || http.CanonicalHeaderKey(name) == "Cookie" {
			least = 4
		}
		for _, v := range values {
			_, bare, _ := strings.Cut(v, " ") // "Bearer KEY"
			add(v, least)
			add(bare, 8)
		}
	}
	slices.SortFunc(out, func(x, y string) int { return len(y) - len(x) })
	return out
}

// Redact returns a text without the user's own secrets, for words of a server that may repeat them.
func (a Auth) Redact(s string) string {
	if hide := a.hider(); hide != nil {
		return hide(s)
	}
	return s
}

// hider returns what Redact does, with the secrets found once; nil where there are none.
func (a Auth) hider() func(string) string {
	secrets := a.secrets()
	if len(secrets) == 0 {
		return nil
	}
	return func(s string) string {
		for _, own := range secrets {
			s = strings.ReplaceAll(s, own, redacted)
		}
		return s
	}
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
