package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// profileLimit is how long a server may take to start or stop its profiler; stopping writes the trace.
const profileLimit = 10 * time.Minute

// StartProfile starts the server's profiler: POST /start_profile with SGLang's settings, or without a body, as vLLM's takes
// it. The error has the server's words.
func StartProfile(ctx context.Context, client *http.Client, base string, auth Auth, settings json.RawMessage) error {
	return profile(ctx, client, base, "/start_profile", auth, settings)
}

// StopProfile stops it, which may take as long as writing the trace does.
func StopProfile(ctx context.Context, client *http.Client, base string, auth Auth, settings json.RawMessage) error {
	return profile(ctx, client, base, "/stop_profile", auth, settings)
}

func profile(ctx context.Context, client *http.Client, base, path string, auth Auth, settings json.RawMessage) error {
	a := newAsker(client, base, "", auth).post(ctx, path, settings, profileLimit)
	if a.ok() {
		return nil
	}
	cure := ""
	if a.err == nil && a.status == http.StatusNotFound {
		cure = "; this server has no profiler switched on (vLLM: start it with --profiler-config; SGLang: set SGLANG_TORCH_PROFILER_DIR)"
	}
	return fmt.Errorf("the profiler: POST %s%s: %s%s", base, path, newRedactor(auth).text(a.fault()), cure)
}
