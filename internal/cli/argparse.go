package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// flagDef is one flag as Python's argparse would declare it.
type flagDef struct {
	name    string // without the dashes
	arity   arity
	kind    kind
	preset  []string // the default; nil means none
	choices []string
	help    string
	// own marks a flag of servemark beside the original's: prefixes do not resolve to it.
	own bool
	// repeat keeps the values of every time the flag is typed; else the last one wins.
	repeat bool
}

type arity int

// How many values a flag takes.
const (
	arityOne    arity = iota
	aritySwitch       // none: present or not
	arityMany         // one or more, up to the next flag
	arityAny          // none or more
	arityHelp
)

type kind int

// What a value must be.
const (
	kindText kind = iota
	kindInt
	kindFloat
	kindPositive // a finite float above 0
	kindSLO      // METRIC:MILLISECONDS
	kindDuration // 90s, 2m
	kindRate     // requests per second, inf, -1
	kindGoal     // METRIC <= VALUE
)

// arguments is a parsed command line: what was typed, in terms of a table.
type arguments struct {
	table  []flagDef
	values map[string][]string
	rest   []string // what stands without a flag
	help   bool
	faults []fault
	// refused are the flags whose values could not be taken: what follows from that is no fault of its own.
	refused map[string]bool
}

// fault is one thing that is wrong with a command line.
type fault struct {
	flag  string // with dashes, or ""
	what  string // what is wrong
	cause string // the likely cause, or ""
	cure  string // what to type instead, or ""
}

func (f fault) String() string {
	s := f.what
	if f.flag != "" {
		s = f.flag + ": " + s
	}
	if f.cause != "" {
		s += " (" + f.cause + ")"
	}
	if f.cure != "" {
		s += "; " + f.cure
	}
	return s
}

// parse reads a command line as argparse does: unique prefixes, --flag=value, lists up to the next flag, negative numbers
// as values; unlike argparse it goes on after a fault and collects them all.
func parse(table []flagDef, args []string) *arguments {
	a := &arguments{table: table, values: map[string][]string{}, refused: map[string]bool{}}
	for i := 0; i < len(args); {
		arg := args[i]
		i++
		if arg == "--" {
			a.rest = append(a.rest, args[i:]...)
			break
		}
		if !looksLikeFlag(arg) {
			a.rest = append(a.rest, arg)
			continue
		}
		name, inline, hasInline := strings.Cut(arg, "=")
		def, problem := a.find(name)
		values := args[i:]
		n := countValues(def, values)
		if problem != nil {
			a.faults = append(a.faults, *problem)
			if !hasInline {
				i += n
			}
			continue
		}
		if hasInline {
			a.take(def, []string{inline}, true)
			continue
		}
		a.take(def, values[:n], false)
		i += n
	}
	return a
}

// looksLikeFlag follows argparse: a dash makes a flag unless it is alone, a negative number, or in a text with blanks. Beyond
// argparse "-5ms", "-inf" and all else that begins as a number does are values.
func looksLikeFlag(s string) bool {
	if len(s) < 2 || s[0] != '-' || strings.ContainsRune(s, ' ') && !strings.Contains(s, "=") {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil && !strings.ContainsRune(".0123456789", rune(s[1]))
}

// countValues returns how many of the words ahead belong to the flag; def is nil for an unknown flag, which swallows what
// follows so that one slip is one fault.
func countValues(def *flagDef, ahead []string) int {
	most := len(ahead)
	if def != nil {
		switch def.arity {
		case arityOne:
			most = 1
		case aritySwitch, arityHelp:
			most = 0
		}
	}
	n := 0
	for n < min(most, len(ahead)) && !looksLikeFlag(ahead[n]) && ahead[n] != "--" {
		n++
	}
	return n
}

// find resolves a flag as typed, by its name or by a unique prefix of one of the original's.
func (a *arguments) find(typed string) (*flagDef, *fault) {
	if typed == "-h" {
		typed = "--help"
	}
	name, ok := strings.CutPrefix(typed, "--")
	if !ok {
		return nil, &fault{flag: typed, what: "no such flag", cure: "flags start with two dashes; see --help"}
	}
	var found []*flagDef
	for i := range a.table {
		def := &a.table[i]
		if def.name == name {
			return def, nil
		}
		if name != "" && !def.own && strings.HasPrefix(def.name, name) {
			found = append(found, def)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		var names []string
		for _, d := range found {
			names = append(names, "--"+d.name)
		}
		return nil, &fault{flag: typed, what: "could be " + strings.Join(names, ", "), cure: "type more of it"}
	}
	f := &fault{flag: typed, what: "no such flag", cure: "see --help"}
	if near := nearest(name, a.table); near != "" {
		f.cure = "did you mean --" + near + "?"
	}
	return nil, f
}

// take stores the values of a flag and checks them; the last one typed wins.
func (a *arguments) take(def *flagDef, values []string, inline bool) {
	flag := "--" + def.name
	switch {
	case def.arity == arityHelp:
		a.help = true
		return
	case def.arity == aritySwitch && inline:
		a.faults = append(a.faults, fault{flag: flag, what: fmt.Sprintf("takes no value, got %q", values[0]), cure: "leave the value out"})
		return
	case (def.arity == arityOne || def.arity == arityMany) && len(values) == 0:
		a.faults = append(a.faults, fault{flag: flag, what: "needs a value", cure: "type " + flag + " " + placeholder(def)})
		a.refused[def.name] = true
		return
	}
	before := len(a.faults)
	for _, v := range values {
		if f := check(def, v); f != nil {
			a.faults = append(a.faults, *f)
		}
	}
	if len(a.faults) > before {
		a.refused[def.name] = true
		if !def.repeat {
			delete(a.values, def.name)
		}
		return
	}
	if values == nil {
		values = []string{}
	}
	if def.repeat {
		values = append(a.values[def.name], values...)
	}
	a.values[def.name] = values
}

// check reports what is wrong with one value's form.
func check(def *flagDef, v string) *fault {
	flag := "--" + def.name
	switch def.kind {
	case kindInt:
		switch _, err := pyInt(v); {
		case errors.Is(err, strconv.ErrRange):
			return &fault{flag: flag, what: v + " is too large a number"}
		case err != nil:
			return &fault{flag: flag, what: fmt.Sprintf("%q is not a whole number", v), cure: "write it in digits alone, such as 64"}
		}
	case kindFloat:
		if _, err := pyFloat(v); err != nil {
			return &fault{flag: flag, what: fmt.Sprintf("%q is not a number", v), cure: "write it as 0.5 or 2"}
		}
	case kindPositive:
		if x, err := pyFloat(v); err != nil || !(x > 0) || math.IsInf(x, 0) {
			return &fault{flag: flag, what: fmt.Sprintf("%q is not a finite number above 0", v)}
		}
	case kindSLO:
		if _, err := parseSLO(v); err != nil {
			return &fault{flag: flag, what: err.Error()}
		}
	case kindRate:
		if _, err := parseRate(v); err != nil {
			return &fault{flag: flag, what: err.Error(), cure: "inf or -1 means unlimited"}
		}
	case kindDuration:
		if _, err := parseDuration(v); err != nil {
			return &fault{flag: flag, what: err.Error(), cure: "write it as 50ms, 90s, 2m or 1h30m"}
		}
	case kindGoal:
		if _, err := parseGoal(v); err != nil {
			return &fault{flag: flag, what: err.Error()}
		}
	}
	if def.choices != nil && !slices.Contains(def.choices, v) {
		return &fault{flag: flag, what: fmt.Sprintf("%q is not one of %s", v, strings.Join(def.choices, ", "))}
	}
	return nil
}

// pyInt reads a whole number as Python's int() does: blanks around it and single underscores between digits are fine.
func pyInt(s string) (int, error) {
	s = strings.TrimSpace(s)
	digits := strings.TrimLeft(s, "+-")
	if strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(strings.ReplaceAll(s, "_", ""))
}

// pyFloat reads a number as Python's float() does; hexadecimal is not one there.
func pyFloat(s string) (float64, error) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xXpP") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && math.IsInf(v, 0) {
		return v, nil // 1e999 is inf in Python
	}
	return v, err
}

// Typed reads of what was typed, or of the default.

func (a *arguments) def(name string) *flagDef {
	for i := range a.table {
		if a.table[i].name == name {
			return &a.table[i]
		}
	}
	panic("cli: no flag --" + name + " in the table")
}

// typed reports whether the flag stands on the command line, be it with a value that could not be taken.
func (a *arguments) typed(name string) bool {
	_, ok := a.values[name]
	return ok || a.refused[name]
}

// list returns a flag's values, or its default's.
func (a *arguments) list(name string) []string {
	if v, ok := a.values[name]; ok {
		return v
	}
	return a.def(name).preset
}

// text returns a flag's value, its default, or "".
func (a *arguments) text(name string) string {
	if v := a.list(name); len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

func (a *arguments) on(name string) bool { return a.typed(name) }

// whole returns a whole number; ok is false where there is neither a value nor a default.
func (a *arguments) whole(name string) (n int, ok bool) {
	n, err := pyInt(a.text(name))
	return n, err == nil
}

func (a *arguments) number(name string) float64 {
	v, _ := pyFloat(a.text(name))
	return v
}

// wrong adds a fault of a flag, unless its value could not be taken in the first place.
func (a *arguments) wrong(name, what, cure string) {
	if a.refused[name] {
		return
	}
	a.faults = append(a.faults, fault{flag: "--" + name, what: what, cure: cure})
}

// placeholder is how a flag's value is written in help.
func placeholder(d *flagDef) string {
	word := map[kind]string{kindInt: "N", kindFloat: "X", kindPositive: "X", kindSLO: "METRIC:MS", kindDuration: "TIME", kindGoal: "GOAL"}[d.kind]
	if word == "" {
		word = strings.ToUpper(d.name[strings.LastIndexByte(d.name, '-')+1:])
	}
	switch d.arity {
	case arityMany:
		return word + " [" + word + " …]"
	case arityAny:
		return "[" + word + " …]"
	}
	return word
}

// nearest returns the name in the table that is at most two slips away from the typed one, or "".
func nearest(typed string, table []flagDef) string {
	best, name := 3, ""
	for _, d := range table {
		if n := slips(typed, d.name); n < best {
			best, name = n, d.name
		}
	}
	return name
}

// slips is the edit distance between two words.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := left
			if a[i] != b[j] {
				cost++
			}
			left = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
