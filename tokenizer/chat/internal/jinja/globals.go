package jinja

// globals are the functions that every template can call: jinja2's, and those that transformers adds.
// lipsum, which makes random text, is known by name but cannot be called.
func globals() map[string]Value {
	g := map[string]Value{}
	add := func(name string, call func(r *run, a args) (Value, error)) { g[name] = &function{name, call} }
	add("range", makeRange)
	add("dict", func(r *run, a args) (Value, error) { return makeDict(r, a) })
	add("namespace", makeNamespace)
	add("cycler", func(_ *run, a args) (Value, error) {
		if len(a.pos) == 0 {
			return nil, fault("RuntimeError", "at least one item has to be provided")
		}
		return &cycler{items: a.pos}, nil
	})
	add("joiner", func(r *run, a args) (Value, error) {
		p, err := a.take("joiner", 0, "sep")
		if err != nil {
			return nil, err
		}
		sep, err := r.str(or(p[0], ", "))
		return &joiner{sep: sep}, err
	})
	add("lipsum", func(*run, args) (Value, error) { return nil, unsupported("lipsum") })
	add("raise_exception", func(r *run, a args) (Value, error) {
		p, err := a.take("raise_exception", 1, "message")
		if err != nil {
			return nil, err
		}
		msg, err := r.str(p[0])
		if err != nil {
			return nil, err
		}
		return nil, &Error{Kind: "TemplateError", Msg: msg}
	})
	add("strftime_now", func(r *run, a args) (Value, error) {
		p, err := a.take("strftime_now", 1, "format")
		if err != nil {
			return nil, err
		}
		format, ok := p[0].(string)
		if !ok {
			return nil, typeError("strftime() argument 1 must be str, not %s", typeName(p[0]))
		}
		return r.strftime(format)
	})
	return g
}

func makeRange(_ *run, a args) (Value, error) {
	if len(a.kw) > 0 || len(a.pos) < 1 || len(a.pos) > 3 {
		return nil, typeError("range expected 1 to 3 arguments, got %d", len(a.pos))
	}
	var n [3]int64
	for i, v := range a.pos {
		if u, ok := v.(*Undefined); ok {
			return nil, u.err()
		}
		x, ok := small(v)
		if !ok || x > 1<<40 || x < -1<<40 {
			if _, isInt := integer(v); isInt {
				return nil, fault("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
			}
			return nil, typeError("'%s' object cannot be interpreted as an integer", typeName(v))
		}
		n[i] = x
	}
	start, stop, step := n[0], n[1], int64(1)
	switch len(a.pos) {
	case 1:
		start, stop = 0, n[0]
	case 3:
		step = n[2]
	}
	if step == 0 {
		return nil, fault("ValueError", "range() arg 3 must not be zero")
	}
	count := int64(0)
	if step > 0 && stop > start {
		count = (stop - start + step - 1) / step
	} else if step < 0 && stop < start {
		count = (start - stop - step - 1) / -step
	}
	if count > maxRange {
		return nil, fault("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return &rangeVal{start, step, count}, nil
}

func makeDict(r *run, a args) (d *Dict, err error) {
	d = NewDict()
	if len(a.pos) > 1 {
		return nil, typeError("dict expected at most 1 argument, got %d", len(a.pos))
	}
	if len(a.pos) == 1 {
		if from, ok := a.pos[0].(*Dict); ok {
			d, err = r.copyDict(from)
		} else {
			err = r.addPairs(d, a.pos[0])
		}
		if err != nil {
			return nil, err
		}
	}
	for i, name := range a.kwNames {
		if err := r.put(d, name, a.kw[i]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (r *run) addPairs(d *Dict, v Value) error {
	items, err := r.iterate(v)
	if err != nil {
		return err
	}
	for i, item := range items {
		pair, err := r.iterate(item)
		if err != nil {
			return err
		}
		if len(pair) != 2 {
			return fault("ValueError", "dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		if err := r.put(d, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func makeNamespace(r *run, a args) (Value, error) {
	d, err := makeDict(r, a)
	if err != nil {
		return nil, err
	}
	ns := &namespace{attrs: NewDict()}
	for i, k := range d.keys {
		name, ok := k.(string)
		if !ok {
			continue // cannot be reached by any name
		}
		if err := r.setAttr(ns, name, d.values[i]); err != nil {
			return nil, err
		}
	}
	return ns, nil
}
