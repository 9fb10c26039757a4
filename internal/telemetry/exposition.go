package telemetry

import (
	"strconv"
	"strings"
)

// series is one line of Prometheus' text format.
type series struct {
	name   string
	labels map[string]string
	value  float64
}

// parse reads Prometheus' text format (version 0.0.4). Lines that cannot be read are left out: one broken family must not hide the
// others.
func parse(text string) []series {
	var out []series
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if s, ok := parseLine(line); ok {
			out = append(out, s)
		}
	}
	return out
}

// parseLine reads name{label="value",…} number [timestamp].
func parseLine(line string) (series, bool) {
	s := series{labels: map[string]string{}}
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 {
		return s, false
	}
	s.name = line[:end]
	rest := line[end:]
	if rest[0] == '{' {
		var ok bool
		if rest, ok = s.readLabels(rest[1:]); !ok {
			return s, false
		}
	}
	words := strings.Fields(rest)
	if len(words) < 1 || len(words) > 2 {
		return s, false
	}
	v, err := strconv.ParseFloat(words[0], 64)
	s.value = v
	return s, err == nil
}

// readLabels reads up to and including the closing brace and returns what follows.
func (s *series) readLabels(rest string) (string, bool) {
	for {
		rest = strings.TrimLeft(rest, " \t,")
		if after, ok := strings.CutPrefix(rest, "}"); ok {
			return after, true
		}
		name, after, ok := strings.Cut(rest, "=")
		if !ok || !strings.HasPrefix(after, `"`) {
			return "", false
		}
		value, n, ok := quoted(after)
		if !ok {
			return "", false
		}
		s.labels[strings.TrimSpace(name)] = value
		rest = after[n:]
	}
}

// quoted reads a label's value: backslash, quote and line end are escaped in it. n is its length with the quotes.
func quoted(text string) (value string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return b.String(), i + 1, true
		case '\\':
			if i++; i == len(text) {
				return "", 0, false
			}
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}
