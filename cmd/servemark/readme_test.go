package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocumentedCommands runs every "$ servemark …" line of the README and the docs against the simulated engine, which stands in
// for http://localhost:8000.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, page := range append(pages, "../../README.md") {
		commands := documented(t, page)
		if len(commands) == 0 {
			continue
		}
		var script strings.Builder
		script.WriteString("exec servemark sim --port $PORT --served-model-name glm-5 --ttft 10ms --itl 1ms &sim&\n")
		for _, c := range commands {
			script.WriteString("exits 0 " + strings.ReplaceAll(c, "localhost:8000", "localhost:$PORT") + "\n")
		}
		script.WriteString("-- prompts.jsonl --\n" + strings.Repeat(`{"conversations":[{"content":"What is a lighthouse for?"},{"content":"It shows ships the way."}]}`+"\n", 4))
		name := strings.TrimSuffix(filepath.Base(page), ".md") + ".txtar"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := params(t)
	p.Dir = dir
	testscript.Run(t, p)
}

// documented lists the commands of a page's console blocks.
func documented(t *testing.T, page string) []string {
	t.Helper()
	f, err := os.Open(page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "```") {
			inside = line == "```console"
			continue
		}
		if c, ok := strings.CutPrefix(line, "$ servemark "); ok && inside {
			out = append(out, "servemark "+c)
		}
	}
	return out
}
