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
	absent, err := m.bind(r, s, a)
	if err != nil {
		return nil, err
	}
	for _, i := range absent {
		var v Value = &Undefined{msg: "parameter " + quoted(m.params[i]) + " was not provided"}
		if m.defaults[i] != nil {
			if v, err = r.eval(m.defaults[i], s); err != nil {
				return nil, err
			}
		}
		s.set(m.params[i], v)
	}
	return r.capture(m.body, s)
}

// bind sets the names of a macro's arguments and gives the places of the parameters that got none.
func (m *macro) bind(r *run, s *scope, a args) (absent []int, err error) {
	kwargs, err := makeDict(r, args{kwNames: a.kwNames, kw: a.kw})
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	pop := func(name string) (Value, bool) {
		v, ok := kwargs.Get(name)
		if ok = ok && !taken[name]; ok {
			taken[name] = true
		}
		return v, ok
	}
	if err := r.alloc(4 * slotBytes * len(m.params)); err != nil {
		return nil, err
	}
	if err := r.step(len(m.params)); err != nil {
		return nil, err
	}
	for i, name := range m.params {
		if i < len(a.pos) {
			s.set(name, a.pos[i])
		} else if v, ok := pop(name); ok {
			s.set(name, v)
		} else {
			absent = append(absent, i)
		}
	}
	if m.useCaller {
		v, ok := pop("caller")
		if !ok {
			v = &Undefined{msg: "No caller defined"}
		}
		s.set("caller", v)
	}
	return absent, m.bindRest(r, s, a, kwargs, taken)
}

// bindRest sets kwargs and varargs, or fails on what they would hold where the macro does not use them.
func (m *macro) bindRest(r *run, s *scope, a args, kwargs *Dict, taken map[string]bool) error {
	rest := NewDict()
	for name, v := range kwargs.All() {
		if taken[name] {
			continue
		}
		if !m.useKwarg {
			return typeError("macro %s takes no keyword argument %s", quoted(m.name), quoted(name))
		}
		if err := r.put(rest, name, v); err != nil {
			return err
		}
	}
	if m.useKwarg {
		s.set("kwargs", rest)
	}
	extra := a.pos[min(len(m.params), len(a.pos)):]
	if m.useVarargs {
		s.set("varargs", &List{Items: extra, Tuple: true})
	} else if len(extra) > 0 {
		return typeError("macro %s takes not more than %d argument(s)", quoted(m.name), len(m.params))
	}
	return nil
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
