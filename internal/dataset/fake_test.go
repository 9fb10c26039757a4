package dataset

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/servemark/servemark/internal/bench"
)

// greedy is a tokenizer that takes the longest piece it knows, so that joined pieces often encode to fewer: "t" "h" becomes
// "th". Bytes without a piece stand for themselves, those of half a character for U+FFFD.
type greedy struct {
	pieces []string
	ids    map[string]uint32
	longest,
	special int
}

func newGreedy(special int, words string) *greedy {
	g := &greedy{ids: map[string]uint32{}, special: special}
	add := func(s string) {
		if _, ok := g.ids[s]; !ok {
			g.ids[s] = uint32(len(g.pieces))
			g.pieces = append(g.pieces, s)
			g.longest = max(g.longest, len(s))
		}
	}
	for b := range 256 {
		add(string([]byte{byte(b)}))
	}
	for _, w := range strings.Fields(words) {
		add(w)
		add(" " + w)
	}
	return g
}

func (g *greedy) Encode(text string, special bool) ([]uint32, error) {
	var out []uint32
	if special {
		for range g.special {
			out = append(out, 1<<20)
		}
	}
	for i := 0; i < len(text); {
		for n := min(g.longest, len(text)-i); ; n-- {
			if id, ok := g.ids[text[i:i+n]]; ok {
				out, i = append(out, id), i+n
				break
			}
		}
	}
	return out, nil
}

func (g *greedy) Decode(ids []uint32, skipSpecial bool) (string, error) {
	var b strings.Builder
	for _, id := range ids {
		if id == 1<<20 {
			if !skipSpecial {
				b.WriteString("<s>")
			}
			continue
		}
		b.WriteString(g.pieces[id])
	}
	if s := b.String(); utf8.ValidString(s) {
		return s, nil
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
}

func (g *greedy) NumSpecial() int { return g.special }
func (g *greedy) VocabSize() int  { return len(g.pieces) }

// english knows the syllables and words of the embedded corpus well enough for about 1.5 tokens a word.
func english(special int) *greedy {
	return newGreedy(special, strings.Join(nouns, " ")+" "+strings.Join(pasts[:80], " ")+` the a and of is was to in th he in er an re on at
en nd ti es or te ed it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur`)
}

// file writes a file of the test's own.
func file(t *testing.T, name, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// spec is a Spec of SGLang's dialect for a data set.
func spec(name string, change func(*bench.Spec)) *bench.Spec {
	s := &bench.Spec{
		Dialect: bench.DialectSGLang, Seed: 42, Target: bench.Target{API: bench.APICompletions},
		Dataset: bench.DatasetSpec{Name: name, Rows: 20, InputTokens: 64, OutputTokens: 16, RangeRatio: 1},
	}
	if change != nil {
		change(s)
	}
	return s
}

// build does what the plan does: both checks, then the rows.
func build(s *bench.Spec, in Inputs) (*Set, error) {
	if faults := append(CheckSpec(s), CheckInputs(s, &in)...); len(faults) > 0 {
		return nil, fmt.Errorf("refused: %v", faults)
	}
	rnd, err := NewStreams(s.Seed)
	if err != nil {
		return nil, err
	}
	return Load(s, &in, rnd)
}

func must(t *testing.T, s *bench.Spec, in Inputs) *Set {
	t.Helper()
	set, err := build(s, in)
	if err != nil {
		t.Fatalf("%s: %v", s.Dataset.Name, err)
	}
	return set
}

func prompts(set *Set) []string {
	var out []string
	for _, r := range set.Requests {
		out = append(out, r.Prompt.Text)
	}
	return out
}

// plainTemplate renders messages as "<s><role>content" one after the other.
func plainTemplate(messages json.RawMessage, generate bool) (string, error) {
	var list []struct{ Role, Content string }
	if err := json.Unmarshal(messages, &list); err != nil {
		return "", err
	}
	out := "<s>"
	for _, m := range list {
		out += "<" + m.Role + ">" + m.Content
	}
	if generate {
		out += "<assistant>"
	}
	return out, nil
}
