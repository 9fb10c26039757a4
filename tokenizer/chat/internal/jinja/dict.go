package jinja

import "iter"

// Dict is a Python dict: ordered by first insertion, with keys that are equal as in Python (1, 1.0 and True are one key).
type Dict struct {
	keys   []Value
	values []Value
	index  map[any]int // places by hashKey
}

// NewDict makes an empty dict.
func NewDict() *Dict { return &Dict{index: map[any]int{}} }

// Set puts a value under a text key. An existing key keeps its place.
func (d *Dict) Set(key string, v Value) { d.place(key, key, v) }

// Get gives the value under a text key.
func (d *Dict) Get(key string) (Value, bool) {
	i, ok := d.index[key]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// All gives the entries with text keys in order; decoded JSON has no others.
func (d *Dict) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i, k := range d.keys {
			if name, ok := k.(string); ok && !yield(name, d.values[i]) {
				return
			}
		}
	}
}

// place puts a value under a key with the given hashKey.
func (d *Dict) place(hash any, key, v Value) {
	if i, ok := d.index[hash]; ok {
		d.values[i] = v
		return
	}
	d.index[hash] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, v)
}

// put sets a value under any key of a dict that is being made, and counts the entry.
func (r *run) put(d *Dict, key, v Value) error {
	hash, err := r.hashKey(key)
	if err == nil {
		err = r.alloc(entryBytes)
	}
	if err != nil {
		return err
	}
	d.place(hash, key, v)
	return nil
}

// find gives the value under any key; a key that cannot be one is an error.
func (r *run) find(d *Dict, key Value) (v Value, ok bool, err error) {
	hash, err := r.hashKey(key)
	if err != nil {
		return nil, false, err
	}
	i, ok := d.index[hash]
	if !ok {
		return nil, false, nil
	}
	return d.values[i], true, nil
}

// copyDict makes a dict of the same entries.
func (r *run) copyDict(d *Dict) (*Dict, error) {
	out := NewDict()
	for i, k := range d.keys {
		if err := r.put(out, k, d.values[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pairs makes the (key, value) tuples of a dict.
func (r *run) pairs(d *Dict) ([]Value, error) {
	if err := r.alloc((listBytes + 3*slotBytes) * d.Len()); err != nil {
		return nil, err
	}
	out := make([]Value, d.Len())
	for i := range out {
		out[i] = &List{Items: []Value{d.keys[i], d.values[i]}, Tuple: true}
	}
	return out, nil
}
