package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Smoke judges the answer to the first request: lines say what came back, and the error refuses the run with the server's
// own words. url is what was asked.
func Smoke(rec *bench.Record, url string) (lines []string, err error) {
	if f := rec.Failure; f != nil {
		kind := string(f.Kind)
		if f.Kind == bench.FailStatus {
			kind = fmt.Sprintf("%s %d", f.Kind, rec.Status)
		}
		where := url + ": "
		if strings.Contains(f.Message, url) {
			where = ""
		}
		return nil, fmt.Errorf("the first request failed: %s%s: %s%s", where, kind, f.Message, cure(rec))
	}
	if rec.Cancelled {
		return nil, fmt.Errorf("the first request was interrupted")
	}
	if n, known := rec.Usage.Completion.Get(); known && n == 0 {
		return []string{"vectors or scores came back; " + usage(rec)}, nil
	}
	line := "answer " + quoted(rec.Text, 60)
	if rec.Text == "" {
		line = "answer without text"
	}
	lines = append(lines, fmt.Sprintf("%s; finish reason %s", line, orNone(rec.Finish)))
	lines = append(lines, channels(rec))
	lines = append(lines, usage(rec))
	if first, ok := bench.Elapsed(rec.Sent, rec.FirstChunk()); ok && rec.Streamed {
		lines = append(lines, fmt.Sprintf("TTFT %s (one request, connection and caches cold)", first.Round(100*time.Microsecond)))
	}
	return lines, nil
}

// cure is what to try after a refusal of the first request.
func cure(rec *bench.Record) string {
	words := strings.ToLower(rec.Failure.Message)
	switch {
	case rec.Status == 401 || rec.Status == 403:
		return "; set OPENAI_API_KEY (sent as a bearer token) or API_KEY (sent as it is) to a key the server knows"
	case rec.Status == 404 && strings.Contains(words, "model"):
		return "; name a model that the server lists with --model"
	case rec.Status == 404 || rec.Status == 405:
		return "; the server has no such route: choose another backend or API, or check what stands before /v1 in the address"
	case rec.Status == 400 && strings.Contains(words, "messages"):
		return "; a chat route wants messages: choose a chat backend"
	}
	return ""
}

func orNone(s string) string {
	if s == "" {
		return "not stated"
	}
	return fmt.Sprintf("%q", s)
}

// channels says whether thinking came apart from the answer.
func channels(rec *bench.Record) string {
	var n [5]int
	for _, c := range rec.Chunks {
		if int(c.Channel) < len(n) {
			n[c.Channel]++
		}
	}
	switch {
	case n[bench.ChannelReasoning] > 0 && n[bench.ChannelReasoning] == len(rec.Chunks):
		return "reasoning came apart; the answer had not begun when the reply ended"
	case n[bench.ChannelReasoning] > 0:
		return "reasoning came apart from the answer"
	case n[bench.ChannelTool] > 0:
		return "the reply calls a tool"
	}
	return "no separate reasoning"
}

func usage(rec *bench.Record) string {
	p, c := rec.Usage.Prompt, rec.Usage.Completion
	switch {
	case p.Known() && c.Known():
		return fmt.Sprintf("usage stated: %s prompt + %s completion tokens", p, c)
	case c.Known():
		return fmt.Sprintf("usage stated in part: %s completion tokens", c)
	}
	return "no usage stated"
}

// quoted shows the start of a text on one line.
func quoted(s string, limit int) string {
	r := []rune(s)
	more := ""
	if len(r) > limit {
		r, more = r[:limit], "…"
	}
	return fmt.Sprintf("%q%s", string(r), more)
}
