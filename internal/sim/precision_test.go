package sim

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/sim/engine"
)

// TestPrecision measures how late tokens leave, by the server's own log, with the client in another process. The numbers
// of docs/sim.md come from it; the test itself only asks that the server's judgement of itself is not missing.
func TestPrecision(t *testing.T) {
	if os.Getenv("SERVEMARK_LONG") == "" {
		t.Skip("takes half a minute of a quiet machine; SERVEMARK_LONG=1 runs it")
	}
	for _, streams := range []int{1, 64, 256} {
		for _, step := range []float64{10, 20} {
			for name, c := range map[string]Config{
				"fixed ":  {ITL: time.Duration(step) * time.Millisecond, TTFT: 50 * time.Millisecond},
				"stepped": {Engine: &engine.Params{Schedule: engine.VLLM, MaxSeqs: 256, Step: engine.StepModel{Base: step}}},
			} {
				s, err := New(c)
				if err != nil {
					t.Fatal(err)
				}
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				h := &http.Server{Handler: s.Handler()}
				go func() { _ = h.Serve(l) }()
				drain(t, l.Addr().String(), streams, int(3000/step))
				g := s.Health()
				_ = h.Close()
				if g.Flush.N != uint64(streams*int(3000/step)) {
					t.Errorf("%d streams: %d tokens logged", streams, g.Flush.N)
				}
				t.Logf("%s %3d streams, %2.0f ms: timer p50 %v p99 %v max %v; flush p50 %v p99 %v max %v; overloaded %v", name, streams, step,
					g.Timer.P50, g.Timer.P99, g.Timer.Max, g.Flush.P50, g.Flush.P99, g.Flush.Max, g.Overloaded)
			}
		}
	}
}

// drain runs TestDrainClient in another process.
func drain(t *testing.T, address string, streams, tokens int) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run", "^TestDrainClient$")
	c.Env = append(os.Environ(), fmt.Sprintf("SIM_DRAIN=%s %d %d", address, streams, tokens))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("client: %v\n%s", err, out)
	}
}

func TestDrainClient(t *testing.T) {
	var address string
	var streams, tokens int
	if n, _ := fmt.Sscan(os.Getenv("SIM_DRAIN"), &address, &streams, &tokens); n != 3 {
		t.Skip("is the other process of TestPrecision")
	}
	body := `{"model":"sim","prompt":"the river","ignore_eos":true,"stream":true,"max_tokens":` + strconv.Itoa(tokens) + `}`
	request := "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	var wg sync.WaitGroup
	for i := range streams {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 200 * time.Microsecond)
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.Copy(conn, strings.NewReader(request))
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Error(err)
				return
			}
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < int64(tokens) {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
	wg.Wait()
}
