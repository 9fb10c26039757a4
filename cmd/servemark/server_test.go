package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serve starts a server that answers each POST with the next reply of a file (the last one again and again), and logs what it
// was asked to requests.jsonl:
//
//	serve replies.txt
//
// A file holds replies. "models NAME…" sets what /v1/models lists. "reply [STATUS] [JSON BODY]" begins one; without a body it is a
// stream, each line of which is one write, "+20ms" pauses before it:
//
//	role                   a chunk that only names the role
//	tok TEXT | think TEXT | thought TEXT | tool NAME     one token: answer, reasoning under either name, a tool call
//	finish REASON | usage PROMPT COMPLETION | done | empty
//	raw TEXT               bytes as they are, with Go's escapes
//	big N                  a comment-free event that carries N bytes of padding
//	eof | hang             ends the connection without the end of the body | says nothing more
func serve(ts *testscript.TestScript, neg bool, args []string) { serveAt(ts, neg, args, "PORT") }

// serve2 is serve on $PORT2.
func serve2(ts *testscript.TestScript, neg bool, args []string) { serveAt(ts, neg, args, "PORT2") }

func serveAt(ts *testscript.TestScript, neg bool, args []string, port string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve FILE")
	}
	s := &scripted{models: []string{"tiny"}, log: ts.MkAbs("requests.jsonl")}
	if err := s.parse(ts.ReadFile(args[0])); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	ts.Check(os.WriteFile(s.log, nil, 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:"+ts.Getenv(port))
	ts.Check(err)
	server := &http.Server{Handler: s}
	go server.Serve(l)
	ts.Defer(func() { server.Close() })
}

// lines checks how many lines of a file hold all of some texts: lines FILE N [TEXT…].
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: lines FILE N [TEXT…]")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	got := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		holds := true
		for _, text := range args[2:] {
			holds = holds && strings.Contains(line, text)
		}
		if holds {
			got++
		}
	}
	if (got == want) == neg {
		ts.Fatalf("%s has %d lines with %q, want %d", args[0], got, args[2:], want)
	}
}

// reply is one scripted answer.
type reply struct {
	status int
	body   string
	steps  []step
}

type step struct {
	pause time.Duration
	verb  string
	rest  string
}

type scripted struct {
	models  []string
	replies []reply
	log     string

	mu   sync.Mutex
	next int
}

func (s *scripted) parse(text string) error {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case verb == "models":
			s.models = strings.Fields(rest)
		case verb == "reply":
			r := reply{status: 200}
			if status, body, _ := strings.Cut(rest, " "); status != "" {
				n, err := strconv.Atoi(status)
				if err != nil {
					return err
				}
				r.status, r.body = n, body
			}
			s.replies = append(s.replies, r)
		case len(s.replies) == 0:
			return fmt.Errorf("%q stands before the first reply", line)
		default:
			st := step{verb: verb, rest: rest}
			if d, ok := strings.CutPrefix(verb, "+"); ok {
				pause, err := time.ParseDuration(d)
				if err != nil {
					return err
				}
				st.pause = pause
				st.verb, st.rest, _ = strings.Cut(rest, " ")
			}
			r := &s.replies[len(s.replies)-1]
			r.steps = append(r.steps, st)
		}
	}
	return nil
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1/models") {
		list := []map[string]any{}
		for _, m := range s.models {
			list = append(list, map[string]any{"id": m, "object": "model", "owned_by": "tests"})
		}
		json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
		return
	}
	if r.Method != http.MethodPost || strings.Contains(r.URL.Path, "tokenize") {
		http.Error(w, `{"error":{"message":"no such route"}}`, http.StatusNotFound)
		return
	}
	s.mu.Lock()
	out := s.replies[min(s.next, len(s.replies)-1)]
	s.next++
	entry, _ := json.Marshal(map[string]any{"path": r.URL.Path, "authorization": r.Header.Get("Authorization"), "body": json.RawMessage(body)})
	f, err := os.OpenFile(s.log, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		fmt.Fprintf(f, "%s\n", entry)
		f.Close()
	}
	s.mu.Unlock()
	if out.body != "" || len(out.steps) == 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(out.status)
		io.WriteString(w, out.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(out.status)
	w.(http.Flusher).Flush()
	for _, st := range out.steps {
		time.Sleep(st.pause)
		switch st.verb {
		case "eof":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
			return
		case "hang":
			<-r.Context().Done()
			return
		}
		io.WriteString(w, frame(st, strings.HasSuffix(r.URL.Path, "/chat/completions")))
		w.(http.Flusher).Flush()
	}
}

// frame is one step in the dialect of the route.
func frame(st step, chat bool) string {
	event := func(choice map[string]any, usage map[string]any) string {
		o := map[string]any{"id": "s-1", "object": "chunk", "created": 1, "model": "tiny", "choices": []any{}}
		if choice != nil {
			choice["index"] = 0
			o["choices"] = []any{choice}
		}
		if usage != nil {
			o["usage"] = usage
		}
		b, _ := json.Marshal(o)
		return "data: " + string(b) + "\n\n"
	}
	delta := func(d map[string]any) string { return event(map[string]any{"delta": d, "finish_reason": nil}, nil) }
	switch st.verb {
	case "role":
		if !chat {
			return ""
		}
		return delta(map[string]any{"role": "assistant", "content": ""})
	case "tok":
		if !chat {
			return event(map[string]any{"text": " " + st.rest, "finish_reason": nil}, nil)
		}
		return delta(map[string]any{"content": " " + st.rest})
	case "think":
		return delta(map[string]any{"reasoning_content": " " + st.rest})
	case "thought":
		return delta(map[string]any{"reasoning": " " + st.rest})
	case "tool":
		return delta(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "c1", "type": "function", "function": map[string]any{"name": st.rest, "arguments": ""}}}})
	case "empty":
		return delta(map[string]any{"content": ""})
	case "big":
		n, _ := strconv.Atoi(st.rest)
		return event(map[string]any{"delta": map[string]any{"content": " x"}, "finish_reason": nil, "logprobs": strings.Repeat("p", n)}, nil)
	case "finish":
		if !chat {
			return event(map[string]any{"text": "", "finish_reason": st.rest}, nil)
		}
		return event(map[string]any{"delta": map[string]any{}, "finish_reason": st.rest}, nil)
	case "usage":
		var p, c int
		fmt.Sscan(st.rest, &p, &c)
		return event(nil, map[string]any{"prompt_tokens": p, "completion_tokens": c, "total_tokens": p + c})
	case "done":
		return "data: [DONE]\n\n"
	case "raw":
		s, err := strconv.Unquote(`"` + st.rest + `"`)
		if err != nil {
			return "data: bad script: " + err.Error() + "\n\n"
		}
		return s
	}
	return "data: bad script: " + st.verb + "\n\n"
}
