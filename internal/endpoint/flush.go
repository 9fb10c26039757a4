package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Flush empties the server's prefix cache: POST /reset_prefix_cache on vLLM, else /flush_cache, to which SGLang is told
// how long it may wait for running requests. The error has the server's words.
func Flush(ctx context.Context, client *http.Client, base string, engine bench.Engine, auth Auth, timeout time.Duration) error {
	path := "/flush_cache"
	switch engine {
	case bench.EngineVLLM:
		path = "/reset_prefix_cache"
	case bench.EngineSGLang:
		path += "?timeout=" + url.QueryEscape(strconv.FormatFloat(timeout.Seconds(), 'f', -1, 64))
	}
	// The server's own limit comes first; ours is for one that does not answer at all.
	a := newAsker(client, base, "", auth).post(ctx, path, nil, timeout+5*time.Second)
	if a.ok() {
		return nil
	}
	cure := ""
	switch {
	case a.err != nil:
	case a.status == http.StatusNotFound && engine == bench.EngineVLLM:
		cure = "; vLLM has this route only with VLLM_SERVER_DEV_MODE=1"
	case a.status == http.StatusNotFound:
		cure = "; this server has no such route: run without --flush-cache"
	case a.barred():
		cure = "; SGLang wants its admin key here when one is set"
	}
	return fmt.Errorf("the prefix cache could not be flushed: POST %s%s: %s%s", base, path, a.fault(), cure)
}
