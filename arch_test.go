package servemark_test

import (
	"bufio"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/servemark/servemark"

// arrows is what one room may import.
type arrows struct{ rooms, packages []string }

// readArrows reads the fenced block of ARCHITECTURE.md.
func readArrows(t *testing.T) map[string]arrows {
	t.Helper()
	f, err := os.Open("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]arrows{}
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "```arrows"):
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			from, to, ok := strings.Cut(line, "->")
			if !ok {
				t.Fatalf("ARCHITECTURE.md: %q is no arrow", line)
			}
			rooms, packages, _ := strings.Cut(to, "|")
			out[strings.TrimSpace(from)] = arrows{split(rooms), split(packages)}
		}
	}
	return out
}

func split(list string) []string {
	var out []string
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// roomOf finds the room a package of this module belongs to: the longest listed path that contains it.
func roomOf(dir string, rooms map[string]arrows) string {
	for d := dir; d != "." && d != "/"; d = path.Dir(d) {
		if _, ok := rooms[d]; ok {
			return d
		}
	}
	return ""
}

func TestEveryImportIsAnArrow(t *testing.T) {
	rooms := readArrows(t)
	if len(rooms) < 10 {
		t.Fatalf("ARCHITECTURE.md lists %d rooms, want all of them", len(rooms))
	}
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || hasOwnModule(p)) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || filepath.Dir(p) == "." {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(p))
		room := roomOf(dir, rooms)
		if room == "" {
			t.Errorf("%s is in no room of ARCHITECTURE.md", p)
			return nil
		}
		seen[room] = true
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !rooms[room].allow(room, name, rooms) {
				t.Errorf("%s imports %s: not an arrow of %s in ARCHITECTURE.md", p, name, room)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range rooms {
		if !seen[room] {
			t.Errorf("ARCHITECTURE.md lists %s, which has no code", room)
		}
	}
}

func hasOwnModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// allow reports whether a room may import a package: the standard library, its own parts, its arrows, its listed packages.
func (a arrows) allow(room, name string, rooms map[string]arrows) bool {
	if dir, ok := strings.CutPrefix(name, module+"/"); ok {
		if dir == room || strings.HasPrefix(dir, room+"/") && roomOf(dir, rooms) == room {
			return true
		}
		return slices.ContainsFunc(a.rooms, func(to string) bool {
			parent, wild := strings.CutSuffix(to, "/*")
			return to == "*" || to == dir || roomOf(dir, rooms) == to || wild && strings.HasPrefix(dir, parent+"/")
		})
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(a.packages, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
}
