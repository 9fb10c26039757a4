package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a JSON object whose keys keep the order in which they are put; the first error stays.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) put(key string, value any) {
	if o.err != nil {
		return
	}
	b, err := compact(value)
	if err != nil {
		o.err = fmt.Errorf("report: key %s: %w", key, err)
		return
	}
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	} else {
		o.buf.WriteByte(',')
	}
	name, _ := compact(key) // a string always encodes
	o.buf.Write(name)
	o.buf.WriteByte(':')
	o.buf.Write(b)
}

func (o *object) bytes() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	}
	return append(o.buf.Bytes(), '}'), nil
}

// MarshalJSON lets an object be a value of another.
func (o *object) MarshalJSON() ([]byte, error) { return o.bytes() }

// compact encodes a value without HTML escapes and without a line end.
func compact(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
