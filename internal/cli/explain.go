package cli

import (
	"context"
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
			fault := word + " is not a word that is explained"
			if near := nearestWord(word); near != "" {
				fault += "; did you mean " + near + "?"
			}
			faults = append(faults, fault)
		}
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

// nearestWord is the explained word that is at most two slips away, or "".
func nearestWord(word string) string {
	var table []flagDef
	for _, d := range stats.Definitions() {
		table = append(table, flagDef{name: d.Name})
	}
	return nearest(word, table)
}
