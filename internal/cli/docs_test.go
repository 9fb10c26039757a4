package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFlagDocs compares docs/flags.md and docs/compat.md with what the tables say; SERVEMARK_UPDATE=1 writes them.
func TestFlagDocs(t *testing.T) {
	for path, want := range map[string]string{"../../docs/flags.md": flagsPage(), "../../docs/compat.md": compatPage()} {
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

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func flagsPage() string {
	var b strings.Builder
	b.WriteString("# Flags\n\nGenerated from the flag tables by `make generate`; do not edit. The flags of the drop-in are in [compat.md](compat.md).\n")
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "\n## servemark %s\n\n%s.\n", cmd.name, cmd.short)
		if cmd.name == "bench_serving" {
			b.WriteString("\nAll flags of `sglang.bench_serving` 0.5.23 ([compat.md](compat.md)) and these:\n")
			flagRows(&b, sglangOwn)
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

func compatPage() string {
	var b strings.Builder
	b.WriteString("# sglang.bench_serving: what becomes of each flag\n\nGenerated from the flag tables by `make generate`; do not edit. Version 0.5.23.\n\n" +
		"*Kept*: it does what it did. *Refused*: the command line is refused with the reason (exit code 2). A kept flag that the original\n" +
		"ignores in a combination is accepted with one printed line that says so.\n\n| flag | default | here | notes |\n|---|---|---|---|\n")
	for _, d := range sglangFlags {
		def := findDef(d.flag)
		note := d.note
		if d.inert != nil {
			note = strings.TrimPrefix(note+"; "+"ignored in combinations where the original ignores it", "; ")
		}
		fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", d.flag, cell(strings.Join(def.preset, " ")), d.state, cell(note))
	}
	return b.String()
}

func findDef(name string) flagDef {
	for _, d := range sglangTable {
		if d.name == name {
			return d
		}
	}
	return flagDef{}
}

// TestEveryFlagHasAnAnswer holds the dispositions against the original's own list.
func TestEveryFlagHasAnAnswer(t *testing.T) {
	have := map[string]int{}
	for _, d := range sglangFlags {
		have[d.flag]++
		if d.state != "kept" && d.state != "mapped" && d.state != "refused" {
			t.Errorf("--%s: state %q, want kept, mapped or refused", d.flag, d.state)
		}
		if d.state == "refused" && d.note == "" {
			t.Errorf("--%s is refused without a reason", d.flag)
		}
		if findDef(d.flag).name == "" {
			t.Errorf("--%s is no flag of the original", d.flag)
		}
	}
	for _, d := range sglangTable {
		if have[d.name] != 1 {
			t.Errorf("--%s has %d dispositions, want 1", d.name, have[d.name])
		}
	}
}
