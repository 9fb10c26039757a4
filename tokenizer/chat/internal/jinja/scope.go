package jinja

// scope holds the names of one block; a name not found is looked up in the parent, at last in the
// variables and the global functions. Few names live in most scopes, so a list beats a map there.
type scope struct {
	names  []string
	values []Value
	index  map[string]int // places of the names, from fewNames on
	parent *scope
}

const fewNames = 12

func (s *scope) find(name string) int {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return i
		}
		return -1
	}
	for i, n := range s.names {
		if n == name {
			return i
		}
	}
	return -1
}

func (s *scope) set(name string, v Value) {
	if i := s.find(name); i >= 0 {
		s.values[i] = v
		return
	}
	s.names, s.values = append(s.names, name), append(s.values, v)
	switch {
	case s.index != nil:
		s.index[name] = len(s.names) - 1
	case len(s.names) == fewNames:
		s.index = make(map[string]int, 2*fewNames)
		for i, n := range s.names {
			s.index[n] = i
		}
	}
}

// lookup finds a name. The scopes gone through are counted as work, of which the next step takes notice.
func (r *run) lookup(s *scope, name string) Value {
	far := 0
	for ; s != nil; s = s.parent {
		if i := s.find(name); i >= 0 {
			return s.values[i]
		}
		if far++; far%4 == 0 && r.steps > 0 {
			r.steps--
		}
	}
	if v, ok := r.context[name]; ok {
		return v
	}
	if v, ok := r.lib.globals[name]; ok {
		return v
	}
	return &Undefined{msg: quoted(name) + " is undefined"}
}
