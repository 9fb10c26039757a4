package jinja

import "strings"

// macro is a macro with the scope that it was defined in, whose later changes it sees.
type macro struct {
	*macroNode
	scope *scope
}

func (n *macroNode) uses(name string) {
	n.useCaller = n.useCaller || name == "caller"
	n.useVarargs = n.useVarargs || name == "varargs"
	n.useKwarg = n.useKwarg || name == "kwargs"
}

func (n *macroNode) exec(_ *run, s *scope, _ *strings.Builder) error {
	s.set(n.name, &macro{n, s})
	return nil
}

func (n *callBlockNode) exec(r *run, s *scope, out *strings.Builder) error {
	f, err := r.eval(n.call.f, s)
	if err != nil {
		return atLine(err, n.line)
	}
	a, err := n.call.args.eval(r, s)
	if err != nil {
		return atLine(err, n.line)
	}
	a.kwNames, a.kw = append(a.kwNames, "caller"), append(a.kw, &macro{n.caller, s})
	v, err := r.callValue(f, a)
	if err != nil {
		return atLine(err, n.line)
	}
	text, err := r.str(v)
	if err != nil {
		return atLine(err, n.line)
	}
	return r.write(out, text)
}

// call runs a macro: arguments by place, then by name, then defaults evaluated in the macro's own scope.
func (m *macro) call(r *run, a args) (Value, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	s := &scope{parent: m.scope}
	kwargs := NewDict()
	for i, name := range a.kwNames {
		_ = kwargs.Set(name, a.kw[i]) // a string can be a key
	}
	pop := func(name string) (Value, bool) {
		v, ok := kwargs.Get(name)
		if ok {
			kwargs = kwargs.Without(func(k, _ Value) bool { return k == name })
		}
		return v, ok
	}
	given := make([]bool, len(m.params))
	for i, name := range m.params {
		if i < len(a.pos) {
			s.set(name, a.pos[i])
			given[i] = true
		} else if v, ok := pop(name); ok {
			s.set(name, v)
			given[i] = true
		}
	}
	if m.useCaller {
		v, ok := pop("caller")
		if !ok {
			v = &Undefined{msg: "No caller defined"}
		}
		s.set("caller", v)
	}
	if m.useKwarg {
		s.set("kwargs", kwargs)
	} else if kwargs.Len() > 0 {
		return nil, typeError("macro %s takes no keyword argument %s", pyRepr(m.name), pyRepr(kwargs.keys[0].(string)))
	}
	extra := a.pos[min(len(m.params), len(a.pos)):]
	if m.useVarargs {
		s.set("varargs", &List{Items: extra, Tuple: true})
	} else if len(extra) > 0 {
		return nil, typeError("macro %s takes not more than %d argument(s)", pyRepr(m.name), len(m.params))
	}
	for i, name := range m.params {
		if given[i] {
			continue
		}
		var v Value = &Undefined{msg: "parameter " + pyRepr(name) + " was not provided"}
		if m.defaults[i] != nil {
			var err error
			if v, err = r.eval(m.defaults[i], s); err != nil {
				return nil, err
			}
		}
		s.set(name, v)
	}
	return r.capture(m.body, s)
}

func (m *macro) member(name string) (Value, bool) {
	switch name {
	case "name":
		return m.name, true
	case "arguments":
		items := make([]Value, len(m.params))
		for i, p := range m.params {
			items[i] = p
		}
		return &List{Items: items, Tuple: true}, true
	case "catch_kwargs":
		return m.useKwarg, true
	case "catch_varargs":
		return m.useVarargs, true
	case "caller":
		return m.useCaller, true
	}
	return nil, false
}
