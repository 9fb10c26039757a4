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

// Limits bound what one rendering may use. The zero value means the defaults named at each field.
type Limits struct {
	Steps int   // evaluated nodes, handled items and 16 bytes of text read; 0 is 20 million and 16 for each byte of the input
	Bytes int64 // bytes of all texts and lists made, freed ones too; 0 is 256 MiB and 64 times the input
}

const (
	maxSource     = 1 << 20 // bytes of a template's source
	maxTokens     = 100_000 // names, signs and texts in it
	maxNesting    = 100     // nested statements or expressions in a template's source
	maxDepth      = 200     // nested calls of macros and recursive loops, and levels of a printed value
	maxBits       = 1 << 16 // bits of an integer
	maxRange      = 100_000 // items of a range, as in jinja2's sandbox
	defaultSteps  = 20_000_000
	defaultBytes  = 256 << 20
	bytesPerInput = 64
	stepsPerInput = 16
	ctxEvery      = 4096 // steps between two looks at the context
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
	p := &parser{toks: toks, lib: newLibrary()}
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
	r := &run{ctx: ctx, lib: t.lib, now: now, steps: limits.Steps, bytes: limits.Bytes}
	if r.steps == 0 {
		r.steps = defaultSteps + stepsPerInput*int(inputBytes)
	}
	if r.bytes == 0 {
		r.bytes = defaultBytes + bytesPerInput*inputBytes
	}
	r.context = vars
	var out strings.Builder
	if err := r.execAll(t.body, &scope{}, &out); err != nil {
		return "", err
	}
	return out.String(), nil
}

// run is one rendering: what it may still use, and what its names mean.
type run struct {
	ctx     context.Context
	lib     *library
	context Vars
	now     time.Time
	steps   int
	bytes   int64
	depth   int    // nested macros, recursive loops and printed levels
	frames  int    // nested calls of eval and exec
	draws   uint64 // values drawn by the random filter so far
}

// step counts n units of work.
func (r *run) step(n int) error {
	before := r.steps
	r.steps -= n
	if r.steps < 0 {
		return fault("LimitError", "the template takes too many steps; it does not end, or the input is too large for it")
	}
	if before/ctxEvery != r.steps/ctxEvery && r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return nil
}

// alloc counts n bytes that are about to be made.
func (r *run) alloc(n int) error {
	r.bytes -= int64(n)
	if r.bytes < 0 || n < 0 {
		return fault("LimitError", "the template makes too much text; it repeats without end, or the input is too large for it")
	}
	return r.step(1 + n>>8)
}

// work counts the reading of n bytes of text.
func (r *run) work(n int) error { return r.step(n >> 4) }

// weigh counts the reading of a value that is a text.
func (r *run) weigh(v Value) error {
	if s, ok := v.(string); ok {
		return r.work(len(s))
	}
	return nil
}

// enter counts one level of nesting; leave must follow unless it fails.
func (r *run) enter() error {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return fault("RecursionError", "the template nests more than %d calls or values", maxDepth)
	}
	return nil
}

func (r *run) leave() { r.depth-- }

// scope holds the names of one block; a name not found is looked up in the parent, at last in the
// variables and the global functions. Few names live in a scope, so a list beats a map.
type scope struct {
	names  []string
	values []Value
	parent *scope
}

func (s *scope) set(name string, v Value) {
	for i, n := range s.names {
		if n == name {
			s.values[i] = v
			return
		}
	}
	s.names, s.values = append(s.names, name), append(s.values, v)
}

func (r *run) lookup(s *scope, name string) Value {
	for ; s != nil; s = s.parent {
		for i, n := range s.names {
			if n == name {
				return s.values[i]
			}
		}
	}
	if v, ok := r.context[name]; ok {
		return v
	}
	if v, ok := r.lib.globals[name]; ok {
		return v
	}
	return &Undefined{msg: pyRepr(name) + " is undefined"}
}
