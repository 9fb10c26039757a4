package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/servemark/servemark/internal/stats"
)

var explainTable = []flagDef{{name: "help", arity: arityHelp, help: "this text"}}

// explainCommand says what a number means.
func explainCommand() command {
	return command{
		name: "explain", operands: "[WORD …]", short: "What a number means, our rule in one line, and the rules of other tools",
		long:  "Without a word it lists those that are explained. `servemark report JOURNAL --as TOOL` computes a tool's figures by its rules.",
		table: explainTable,
		act:   func(_ context.Context, c *console, a *arguments) int { return c.explain(a) },
	}
}

func (c *console) explain(a *arguments) int {
	var faults []string
	for _, word := range a.rest {
		if _, ok := stats.Define(word); !ok {
			faults = append(faults, fmt.Sprintf("%q is not a word that is explained%s", word, meant(word)))
		}
	}
	if len(faults) > 0 {
		faults[len(faults)-1] += "\nExplained are " + strings.Join(explained(), ", ")
	}
	if faults = append(faultLines(a.faults), faults...); len(faults) > 0 {
		return c.refuse("explain", exitUsage, faults)
	}
	if len(a.rest) == 0 {
		for _, d := range stats.Definitions() {
			c.say("%-16s %s", d.Name, d.Title)
		}
		return exitOK
	}
	for i, word := range a.rest {
		if i > 0 {
			c.say("")
		}
		c.define(word)
	}
	return exitOK
}

// define prints one definition.
func (c *console) define(word string) {
	d, _ := stats.Define(word)
	c.say("%s: %s", d.Name, d.Title)
	if len(d.Aliases) > 0 {
		c.say("  also          %s", strings.Join(d.Aliases, ", "))
	}
	c.say("  meaning       %s", d.Meaning)
	c.say("  ours          %s", d.Ours)
	c.say("  key           %s", d.Key)
	for _, t := range d.Theirs {
		c.say("  %-13s %s", t.Tool, t.Rule)
	}
}

// explained lists the words that are explained.
func explained() []string {
	var words []string
	for _, d := range stats.Definitions() {
		words = append(words, d.Name)
	}
	return words
}

// meant asks whether one of the words that come near the typed one was meant; "" where none does. Near are those with the
// fewest slips, by their names or other words for them; where none is a slip or two away, those of which the typed one is a part.
func meant(typed string) string {
	typed = strings.ToLower(strings.ReplaceAll(typed, "_", "-"))
	near, parts := map[int][]string{}, []string(nil)
	for _, d := range stats.Definitions() {
		fewest, part := len(typed), false
		for _, word := range append([]string{d.Name}, d.Aliases...) {
			fewest = min(fewest, slips(typed, word))
			part = part || len(typed) >= 3 && strings.Contains(word, typed)
		}
		near[fewest] = append(near[fewest], d.Name)
		if part {
			parts = append(parts, d.Name)
		}
	}
	for n := 1; n <= min(2, len(typed)/2); n++ { // in short words fewer slips make another word
		if len(near[n]) > 0 {
			return "; did you mean " + strings.Join(near[n], " or ") + "?"
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(parts, " or ") + "?"
}
