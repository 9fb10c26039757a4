package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestFlagDocs compares docs/flags.md and docs/compat.md with what the tables say; SERVEMARK_UPDATE=1 writes them.
func TestFlagDocs(t *testing.T) {
	for path, want := range map[string]string{"../../docs/flags.md": flagsPage(), "../../docs/compat.md": compatPage(t)} {
		if os.Getenv("SERVEMARK_UPDATE") != "" {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is not what the flag tables say (%v); run make generate", path, err)
		}
	}
}

// differences stands at the head of docs/compat.md: what differs even with --strict-compat, where bodies are equal.
const differences = `
## What differs though bodies are equal (` + "`--strict-compat`" + `)

The figures under the originals' labels then follow the originals' formulas, from this program's records. What is left:

- Connections are kept and used again; the originals' TTFT has a new connection in it for each request (SGLang).
- Runs begin at different times, and each request waits its own time for a slot.
- vLLM's client asks /tokenize about its first prompt, and cuts all where the server counts otherwise; here so with --strict-compat only.
- Times are the kernel's receive times, not those of the parser's turn: under load TTFT and ITL are lower.
- Arrivals keep an absolute schedule; SGLang sleeps from one request to the next and falls behind, so its rate is lower.
- Duration ends with the last reply; SGLang's has a call of /server_info in it, so its throughput is lower by that.
- Failures stay failures: errors in a stream, tool calls without text and empty answers do not count as instant successes.
- What was not measured is null, not 0; unlimited is the string "inf", as JSON has no such number.
- accept_length is of this run; SGLang prints the server's average since its start.
- Secrets in server_info are redacted, and only servers that are asked as SGLang's have it (the original asks any).
- random_input_len and random_output_len are null where the data set has no use for them; SGLang repeats its defaults.
- Cached tokens are read from the standard usage too; SGLang's client reads its own server's fields only and prints 0 for others.
- A trace's request_rate is "trace"; SGLang says so only with --use-trace-timestamps, and then for any data set.
- The warm-up of mooncake is the trace's first prompt; SGLang's is a longer one of its own, outside the measured time.
- An answer without the server's usage counts as long as was asked (SGLang) or as the tokenizer says (vLLM), as in the originals.
`

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func flagsPage() string {
	var b strings.Builder
	b.WriteString("# Flags\n\nGenerated from the flag tables by `make generate`; do not edit. The flags of the drop-in are in [compat.md](compat.md).\n")
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "\n## servemark %s\n\n%s.\n", cmd.name, cmd.short)
		switch cmd.name {
		case "bench_serving":
			b.WriteString("\nAll flags of `sglang.bench_serving` 0.5.23 ([compat.md](compat.md)) and these:\n")
			flagRows(&b, sglangOwn)
			continue
		case "bench":
			b.WriteString("\nAll flags of `vllm bench serve` 0.33 ([compat.md](compat.md)) and these:\n")
			flagRows(&b, vllmOwn())
			continue
		}
		flagRows(&b, cmd.table)
	}
	return b.String()
}

func flagRows(b *strings.Builder, table []flagDef) {
	b.WriteString("\n| flag | default | meaning |\n|---|---|---|\n")
	for _, d := range table {
		name := "--" + d.name
		if d.arity != aritySwitch && d.arity != arityHelp {
			name += " " + placeholder(&d)
		}
		meaning := d.help
		if d.choices != nil {
			meaning += " (" + strings.Join(d.choices, ", ") + ")"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell(name), cell(strings.Join(d.preset, " ")), cell(meaning))
	}
}

// original is a tool whose flags have an answer here.
type original struct {
	title, file, intro string
	table              []flagDef
	flags              []disposition
}

// originals lists the tools, in the order of docs/compat.md.
func originals() []original {
	return []original{
		{"sglang.bench_serving 0.5.23", "sglang_bench_serving_0.5.23.json", "`servemark bench_serving`.", sglangTable, sglangFlags},
		{"vllm bench serve 0.33", "vllm_bench_serve_0.33.json", "`servemark bench serve`; `_` may stand for `-`.", vllmTable, vllmFlags},
		{"SGLang's compiled client 0.5.23 (`--rust-client`)", "sglang_rust_0.5.23.json", "`servemark bench_serving`. Several headers stand behind one `--header`.",
			slices.Concat(sglangTable, sglangRustTable), slices.Concat(sglangFlags, sglangRustFlags)},
		{"vllm-bench 0.1.0, vLLM's compiled client", "vllm_bench_rust_0.1.0.json", "`servemark bench serve`. Several values stand behind one flag.",
			slices.Concat(vllmTable, vllmRustTable, []flagDef{dryRunFlag}), slices.Concat(vllmFlags, vllmRustFlags, []disposition{{flag: "dry-run", state: "kept", note: "prints every request, one JSON object a line"}})},
	}
}

// flagNames reads the names in the original's own list.
func (o original) flagNames(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("genflags/" + o.file)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Flags []struct {
			Flags []string `json:"flags"`
		} `json:"flags"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range list.Flags {
		for _, name := range f.Flags {
			if long, ok := strings.CutPrefix(name, "--"); ok {
				names = append(names, long)
			}
		}
	}
	return names
}

func (o original) answer(name string) (d disposition, n int) {
	for _, x := range o.flags {
		if x.flag == name {
			d, n = x, n+1
		}
	}
	return d, n
}

func compatPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# What becomes of each flag of the originals\n\nGenerated from the flag tables by `make generate`; do not edit.\n\n" +
		"*Kept*: it does what it did. *Mapped*: it does so another way. *Refused*: the command line is refused with the reason (exit code 2). A kept\n" +
		"flag that the original ignores in a combination is accepted with one printed line that says so.\n")
	b.WriteString(differences)
	for _, o := range originals() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| flag | default | here | notes |\n|---|---|---|---|\n", o.title, o.intro)
		for _, name := range o.flagNames(t) {
			d, _ := o.answer(name)
			note := d.note
			if d.inert != nil {
				note = strings.TrimPrefix(note+"; "+"ignored in combinations where the original ignores it", "; ")
			}
			preset := ""
			if def := findDef(o.table, name); def.name != "" {
				preset = strings.Join(def.preset, " ")
			}
			fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", name, cell(preset), d.state, cell(note))
		}
	}
	return b.String()
}

func findDef(table []flagDef, name string) flagDef {
	for _, d := range table {
		if d.name == name {
			return d
		}
	}
	return flagDef{}
}

// TestEveryFlagHasAnAnswer holds the dispositions against the originals' own lists.
func TestEveryFlagHasAnAnswer(t *testing.T) {
	for _, o := range originals() {
		for _, name := range o.flagNames(t) {
			d, n := o.answer(name)
			if n != 1 {
				t.Errorf("%s: --%s has %d answers, want 1", o.title, name, n)
				continue
			}
			if d.state != "kept" && d.state != "mapped" && d.state != "refused" {
				t.Errorf("%s: --%s: state %q, want kept, mapped or refused", o.title, name, d.state)
			}
			if d.state != "kept" && d.note == "" {
				t.Errorf("%s: --%s is %s without a reason", o.title, name, d.state)
			}
			if findDef(o.table, name).name == "" {
				t.Errorf("%s: --%s is not in the command's table", o.title, name)
			}
		}
	}
	for _, o := range originals()[:2] {
		for _, d := range o.flags {
			if !slices.Contains(o.flagNames(t), d.flag) {
				t.Errorf("%s: --%s is no flag of the original", o.title, d.flag)
			}
		}
	}
}

// TestGeneratedTables: the tables are what genflags makes of the originals' lists.
func TestGeneratedTables(t *testing.T) {
	for _, o := range originals()[:2] {
		var have []string
		for _, d := range o.table {
			have = append(have, d.name)
		}
		if want := o.flagNames(t); !slices.Equal(have, want) {
			t.Errorf("%s: table has %q, its list %q; run make generate", o.title, have, want)
		}
	}
}
