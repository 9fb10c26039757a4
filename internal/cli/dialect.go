package cli

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
)

// dialectReader is what the readers of both dialects share: the line, the environment, and the job they build.
type dialectReader struct {
	*arguments
	getenv func(string) string
	job    job
	api    bench.API
}

func (r *dialectReader) note(format string, args ...any) {
	r.job.notes = append(r.job.notes, fmt.Sprintf(format, args...))
}

// inert tells the flags that have no effect in this combination, as in the original.
func (r *dialectReader) inert(flags []disposition) {
	c := dialectContext{dataset: r.text("dataset-name"), api: r.api, typed: r.typed}
	for _, d := range flags {
		if d.inert == nil || !r.typed(d.flag) {
			continue
		}
		if why := d.inert(c); why != "" {
			r.note("--%s is ignored, as in the original: %s", d.flag, why)
		}
	}
}

// strays tells words that no flag took.
func (r *dialectReader) strays() {
	if len(r.rest) > 0 {
		r.faults = append(r.faults, fault{what: fmt.Sprintf("%q stands without a flag", strings.Join(r.rest, " ")), cure: "give it to a flag, or leave it out"})
	}
}

// readModel takes the three names.
func (r *dialectReader) readModel() {
	m := &r.job.spec.Model
	m.Asked = r.text("model")
	m.Served = bench.ServedModel(r.text("served-model-name"))
	m.Tokenizer = bench.TokenizerSource(r.text("tokenizer"))
	for _, name := range []string{"model", "served-model-name", "tokenizer"} {
		if r.typed(name) && strings.TrimSpace(r.text(name)) == "" {
			r.wrong(name, "is empty", "name one, or leave the flag out to have it found")
		}
	}
}

// readReadyTimeout takes how long to wait for the server.
func (r *dialectReader) readReadyTimeout(t *bench.Target) {
	n, ok := r.whole("ready-check-timeout-sec")
	if ok && (n < 0 || n > 1e9) {
		r.wrong("ready-check-timeout-sec", fmt.Sprintf("%d is out of range: seconds from 0 (do not wait) to 1e9", n), "")
		return
	}
	t.ReadyTimeout = time.Duration(n) * time.Second
}

// readAddress finds the base URL: --base-url, else --host and --port.
func (r *dialectReader) readAddress(t *bench.Target, defaultPort int) {
	raw, flag := r.text("base-url"), "base-url"
	if raw == "" {
		flag = "host"
		host, port := r.text("host"), defaultPort
		if n, ok := r.whole("port"); ok {
			port = n
			if n < 1 || n > 65535 {
				r.wrong("port", fmt.Sprintf("%d is out of range: 1 to 65535", n), "")
				return
			}
		}
		raw = "http://" + endpoint.HostPort(reachable(host), port)
	}
	base, user, notes, err := endpoint.NormalizeBase(raw)
	if err != nil {
		r.wrong(flag, err.Error(), "")
		return
	}
	for _, n := range notes {
		r.note("--%s: %s", flag, n)
	}
	t.BaseURL = base
	r.job.user = user
}

// reachable turns an address to listen on into one to connect to.
func reachable(host string) string {
	switch host {
	case "0.0.0.0", "":
		return "127.0.0.1"
	case "::", "[::]":
		return "::1"
	}
	return host
}

// readAuth takes the extra headers and the key; a key or an Authorization header beats what stands in the address.
func (a *arguments) readAuth(t *bench.Target, j *job, getenv func(string) string) {
	headers, err := parseHeaders(a.list("header"))
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			a.wrong("header", line, "write it as --header Key=Value")
		}
	}
	extra := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		extra.Set(name, headers[name])
		t.HeaderNames = append(t.HeaderNames, name)
	}
	for _, name := range []string{"OPENAI_API_KEY", "API_KEY"} {
		if strings.ContainsAny(strings.TrimSpace(getenv(name)), "\r\n\x00") {
			a.faults = append(a.faults, fault{what: name + " holds a line break", cause: "two lines of a file were taken", cure: "set it to the key alone"})
		}
	}
	j.auth = endpoint.AuthFromEnv(getenv, extra)
	if j.user != nil {
		if j.auth.From() != "" || extra.Get("Authorization") != "" {
			j.notes = append(j.notes, "user and password of the address are not sent: a key or an Authorization header is")
		} else {
			password, _ := j.user.Password()
			j.auth = j.auth.WithBasic(j.user.Username(), password)
			j.notes = append(j.notes, "user and password of the address are sent as basic authentication")
		}
	}
	t.KeyFrom = j.auth.From()
}
