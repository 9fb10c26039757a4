package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/servemark/servemark/internal/cli"
)

func TestMain(m *testing.M) {
	// Scripts wait for servers far more than they compute: more of them than cores may run at once.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"servemark":     func() { os.Exit(cli.Main(os.Args)) },
		"bench_serving": func() { os.Exit(cli.Main(os.Args)) },
	})
}

// TestScripts runs the whole program as a user does.
func TestScripts(t *testing.T) {
	p := params(t)
	p.Dir = "testdata/script"
	testscript.Run(t, p)
}

// params gives scripts free ports of their own ($PORT, $PORT2, $FLOODPORT), a hub cache of their own, and the commands of this package.
func params(t *testing.T) testscript.Params {
	return testscript.Params{
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"PORT", "PORT2", "FLOODPORT"} {
				e.Setenv(name, freePort(t))
			}
			e.Setenv("HF_HOME", e.WorkDir+"/hub")
			e.Setenv("HF_ENDPOINT", "http://127.0.0.1:9")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"lines": lines, "serve": serve, "serve2": serve2, "exits": exits},
	}
}

// nextPort counts through ports below those that systems give to outgoing connections, which could take one between its being
// found free and its being used.
var nextPort atomic.Int64

// freePort returns a port nobody listens on, a new one at each call. Until the test ends the UDP port of the same number is held:
// it keeps other processes that run these tests from finding the port free before it is used.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := 20000 + (int64(os.Getpid())*128+nextPort.Add(1))%10000
		address := fmt.Sprintf("127.0.0.1:%d", port)
		held, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			held.Close()
			continue
		}
		l.Close()
		t.Cleanup(func() { held.Close() })
		return fmt.Sprint(port)
	}
	t.Fatal("no free port between 20000 and 30000")
	return ""
}

// exits runs a program and checks its exit code: exits CODE PROGRAM ARGS…; its output is there for stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}
