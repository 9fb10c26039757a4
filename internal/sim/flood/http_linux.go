package flood

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// maxRequest bounds what one connection may hold in memory.
const maxRequest = 64 << 20

// parse answers the requests that have come in whole, one at a time.
func (x *loop) parse(c *conn) {
	for !c.busy && c.fd >= 0 {
		head := bytes.Index(c.in, []byte("\r\n\r\n"))
		if head < 0 {
			if len(c.in) > 1<<20 {
				x.drop(c)
			}
			return
		}
		line, rest, _ := strings.Cut(string(c.in[:head]), "\r\n")
		length, ok := contentLength(rest)
		if !ok || length > maxRequest {
			x.json(c, "411 Length Required", `{"error":{"message":"the flood needs a Content-Length below 64 MiB"}}`)
			x.drop(c)
			return
		}
		size := head + 4 + length
		if len(c.in) < size {
			return
		}
		x.route(c, line, c.in[head+4:size])
		if c.fd >= 0 {
			c.in = c.in[:copy(c.in, c.in[size:])]
		}
	}
}

func contentLength(head string) (int, bool) {
	for field := range strings.SplitSeq(head, "\r\n") {
		name, value, _ := strings.Cut(field, ":")
		switch {
		case strings.EqualFold(name, "Content-Length"):
			n, err := strconv.Atoi(strings.TrimSpace(value))
			return n, err == nil && n >= 0
		case strings.EqualFold(name, "Transfer-Encoding"):
			return 0, false
		}
	}
	return 0, true
}

func (x *loop) route(c *conn, line string, body []byte) {
	method, rest, _ := strings.Cut(line, " ")
	path, _, _ := strings.Cut(rest, " ")
	path, _, _ = strings.Cut(path, "?")
	switch method + " " + path {
	case "POST /v1/chat/completions":
		x.begin(c, chat, body)
	case "POST /v1/completions":
		x.begin(c, completion, body)
	case "POST /generate":
		x.begin(c, native, body)
	case "GET /v1/models":
		x.json(c, "200 OK", map[string]any{"object": "list", "data": []any{map[string]any{"id": x.c.ServedModel, "object": "model", "created": 0, "owned_by": "servemark", "max_model_len": 1 << 20}}})
	case "GET /health", "GET /ping", "GET /ready":
		x.json(c, "200 OK", "{}")
	case "GET /sim/flood":
		x.json(c, "200 OK", x.statsNow())
	case "POST /sim/reset":
		x.reset()
		x.json(c, "200 OK", "{}")
	default:
		x.json(c, "404 Not Found", `{"detail":"Not Found"}`)
	}
}

func (x *loop) begin(c *conn, k kind, body []byte) {
	var a ask
	if err := json.Unmarshal(body, &a); err != nil {
		x.json(c, "400 Bad Request", map[string]any{"error": map[string]string{"message": "the request body is not valid: " + err.Error()}})
		return
	}
	now := x.now()
	n, prompt := a.tokens(x.c.Tokens), len(body)/5
	if !a.Stream { // set-up probes; answered at once
		x.json(c, "200 OK", whole(k, x.c.ServedModel, prompt, n))
		return
	}
	c.kind, c.usage, c.sent, c.total, c.prompt = k, a.Options.IncludeUsage && k != native, 0, n, prompt
	c.busy = true
	c.due = x.align(now + x.c.TTFT)
	x.stats.Streams++
	x.stats.Active++
	x.stats.Peak = max(x.stats.Peak, x.stats.Active)
	x.opening.push(c)
}
