// Package jinja renders the Jinja templates that model files carry, as Python's jinja2 3.1 does in the
// environment that chat templates run in: sandboxed and immutable, trim_blocks and lstrip_blocks on,
// loop controls, no loader. What a template makes of values is what Python would: str, repr, arithmetic, ordering,
// key order, errors.
//
// A template is data from a stranger. It can reach no file, no network and no clock but the given
// one, and every evaluation step, every byte it makes and every level of nesting is counted against Limits.
//
// Left out, each with an error that names it: autoescape (prompts are not HTML), lipsum, the filters urlize,
// wordwrap, xmlattr, filesizeformat and pprint beyond one line, str.encode, translate, maketrans and
// format_map, \N{…} escapes, complex numbers. The filter random draws from a fixed seed.
package jinja

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Error is a fault of the template or of what it was given, in the words that Python would use.
type Error struct {
	Kind string // Python's exception: "TemplateSyntaxError", "UndefinedError", "TypeError", …; "LimitError" is our own
	Msg  string
	Line int // line of the template, from 1; 0 where unknown
}

// Error gives kind, message and line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Kind + ": " + e.Msg
	}
	return fmt.Sprintf("%s: %s (line %d of the template)", e.Kind, e.Msg, e.Line)
}

func fault(kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

func typeError(format string, args ...any) *Error { return fault("TypeError", format, args...) }

// Template is a parsed template, safe for use by many goroutines.
type Template struct {
	body []stmt
	lib  *library
}

// Parse reads a template. A syntax fault is an *Error with its line.
func Parse(source string) (*Template, error) {
	if len(source) > maxSource {
		return nil, fault("LimitError", "the template has %d bytes, more than %d", len(source), maxSource)
	}
	toks, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks, lib: newLibrary(), blocks: map[string]bool{}}
	body, err := p.template()
	if err != nil {
		return nil, err
	}
	return &Template{body: body, lib: p.lib}, nil
}

// Vars are the variables a template sees, by name.
type Vars map[string]Value

// Render gives the text that the template makes of vars. now is what strftime_now shows; inputBytes
// is the size of what vars were read from, for the defaults of Limits.
func (t *Template) Render(ctx context.Context, vars Vars, now time.Time, limits Limits, inputBytes int64) (string, error) {
	return t.render(newRun(ctx, limits, inputBytes), vars, now)
}

func (t *Template) render(r *run, vars Vars, now time.Time) (string, error) {
	r.lib, r.context, r.now = t.lib, vars, now
	var out strings.Builder
	err := r.execAll(t.body, &scope{}, &out)
	if r.over != nil { // a generator may have kept it, or a filter have put it in other words
		err = r.over
	}
	if err != nil {
		return "", err
	}
	return out.String(), nil
}
