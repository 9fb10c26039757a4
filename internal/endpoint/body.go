package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// body is a JSON object under construction. Keys keep the place where they were first set, as in a Python dict, so the
// same request always makes the same bytes.
type body []field

type field struct {
	key string
	raw json.RawMessage
}

// set gives key a value, in its old place if it has one.
func (b *body) set(key string, raw json.RawMessage) {
	for i := range *b {
		if (*b)[i].key == key {
			(*b)[i].raw = raw
			return
		}
	}
	*b = append(*b, field{key, raw})
}

func (b *body) setInt(key string, n int)       { b.set(key, strconv.AppendInt(nil, int64(n), 10)) }
func (b *body) setBool(key string, v bool)     { b.set(key, strconv.AppendBool(nil, v)) }
func (b *body) setString(key, v string)        { b.set(key, jsonString(v)) }
func (b *body) setFloat(key string, v float64) { b.set(key, jsonFloat(v)) }

// merge sets every member of extra.
func (b *body) merge(extra body) {
	for _, f := range extra {
		b.set(f.key, f.raw)
	}
}

// has reports whether key is set.
func (b body) has(key string) bool {
	for i := range b {
		if b[i].key == key {
			return true
		}
	}
	return false
}

// render writes the object: compact, or with python in the bytes of Python's json.dumps.
func (b body) render(python bool) []byte {
	n := 2
	for _, f := range b {
		n += len(f.key) + len(f.raw) + 6
	}
	out := append(make([]byte, 0, n), '{')
	for i, f := range b {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, jsonString(f.key)...), ':'), f.raw...)
	}
	out = append(out, '}')
	if python {
		return pythonJSON(out)
	}
	return out
}

// parseBody splits a JSON object into its members, in order; of a repeated key the last value counts.
func parseBody(raw json.RawMessage) (body, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	start, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if start != json.Delim('{') {
		return nil, fmt.Errorf("not a JSON object but %.40s", raw)
	}
	var b body
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		b.set(key.(string), v)
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if rest := bytes.TrimSpace(raw[dec.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("something follows the JSON object: %.40s", rest)
	}
	return b, nil
}

// jsonString renders text without the HTML escapes that encoding/json adds by default.
func jsonString(v string) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage(`""`) // cannot happen: every string can be encoded
	}
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// jsonFloat renders a float with a decimal point, as Python does (0.0, not 0).
func jsonFloat(v float64) json.RawMessage {
	out := strconv.AppendFloat(nil, v, 'g', -1, 64)
	if !bytes.ContainsAny(out, ".e") {
		out = append(out, '.', '0')
	}
	return out
}

// jsonInts renders a list of integers.
func jsonInts[T int | uint32](list []T) json.RawMessage {
	out := append(make([]byte, 0, 7*len(list)+2), '[')
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(v), 10)
	}
	return append(out, ']')
}

// pythonJSON rewrites valid JSON in the form of Python's json.dumps defaults: ", " and ": " between the parts, no other
// space, and everything beyond ASCII as \uXXXX. Numbers stay as they are written.
func pythonJSON(in []byte) []byte {
	out := make([]byte, 0, len(in)+len(in)/8)
	for i := 0; i < len(in); {
		switch c := in[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case ',', ':':
			out = append(out, c, ' ')
			i++
		case '"':
			s := newScan(in)
			s.i = i
			s.str()
			var v string
			if !s.ok || json.Unmarshal(in[i:s.i], &v) != nil {
				return in // cannot happen: the caller checked the JSON
			}
			out = appendPythonString(out, v)
			i = s.i
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

func appendPythonString(out []byte, v string) []byte {
	out = append(out, '"')
	for _, r := range v {
		switch r {
		case '"', '\\':
			out = append(out, '\\', byte(r))
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		default:
			switch {
			case r >= 0x20 && r <= 0x7e:
				out = append(out, byte(r))
			case r > 0xffff:
				r -= 0x10000
				out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			case r == utf8.RuneError:
				out = append(out, `\ufffd`...)
			default:
				out = fmt.Appendf(out, `\u%04x`, r)
			}
		}
	}
	return append(out, '"')
}
