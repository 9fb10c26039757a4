package endpoint

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Flush empties the server's prefix cache: POST /flush_cache (SGLang, told how long it may wait for idleness; also the
// spelling for unknown engines) or /reset_prefix_cache (vLLM). Any answer but 2xx is an error with the server's words.
func Flush(ctx context.Context, client *http.Client, base string, engine bench.Engine, auth Auth, timeout time.Duration) error {
	path := "/flush_cache"
	switch engine {
	case bench.EngineVLLM:
		path = "/reset_prefix_cache"
	case bench.EngineSGLang:
		path += "?" + url.Values{"timeout": {strconv.FormatFloat(timeout.Seconds(), 'f', -1, 64)}}.Encode()
	}
	ctx, cancel := context.WithTimeout(ctx, timeout+5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, nil)
	if err != nil {
		return fmt.Errorf("flushing the prefix cache: %w", err)
	}
	auth.Apply(req.Header)
	res, err := client.Do(req)
	if err != nil {
		_, words := Classify(err)
		return fmt.Errorf("flushing the prefix cache at %s: %s", base+path, words)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if res.StatusCode/100 != 2 {
		cure := ""
		if res.StatusCode == http.StatusNotFound && engine == bench.EngineVLLM {
			cure = "; vLLM has this route only with VLLM_SERVER_DEV_MODE=1"
		}
		return fmt.Errorf("flushing the prefix cache: %s answered %d: %s%s", base+path, res.StatusCode, wordsOf(body), cure)
	}
	return nil
}
