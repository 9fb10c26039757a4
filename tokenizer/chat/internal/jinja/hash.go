package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Keys of Go maps for values that are no such keys themselves.
type (
	noneKey  struct{}
	undefKey struct{}
	bigKey   struct{ hex string }
	rangeKey struct{ n, start, step int64 }
	tupleKey struct{ text string } // of writeKey
)

// hashKey gives a key of a Go map that is equal for exactly the values that are equal in Python. Values that
// Python cannot hash are a TypeError.
func (r *run) hashKey(v Value) (any, error) {
	switch v := v.(type) {
	case nil:
		return noneKey{}, nil
	case string:
		return v, r.match(len(v))
	case bool:
		return boolInt(v), nil
	case int64:
		return v, nil
	case *big.Int:
		return bigKey{v.Text(16)}, r.work(v.BitLen() >> 3)
	case float64:
		return floatKey(v), nil
	case *Undefined:
		return undefKey{}, nil
	case *rangeVal:
		return v.key(), nil
	case *List:
		if v.Tuple {
			var b strings.Builder
			err := r.writeKey(&b, v)
			return tupleKey{b.String()}, err
		}
		return nil, typeError("unhashable type: 'list'")
	case *Dict:
		return nil, typeError("unhashable type: 'dict'")
	case *view:
		if v.name != "dict_values" {
			return nil, typeError("unhashable type: '%s'", v.name)
		}
	}
	return v, nil // a pointer: the same only as itself
}

// floatKey is the key of the integer where a float is one.
func floatKey(f float64) any {
	switch {
	case f != math.Trunc(f) || math.IsInf(f, 0):
		return f
	case math.Abs(f) < 1<<53:
		return int64(f)
	}
	b, _ := big.NewFloat(f).Int(nil)
	if b.IsInt64() {
		return b.Int64()
	}
	return bigKey{b.Text(16)}
}

// key tells what makes a range: its items.
func (v *rangeVal) key() rangeKey {
	switch v.n {
	case 0:
		return rangeKey{}
	case 1:
		return rangeKey{n: 1, start: v.start}
	}
	return rangeKey{v.n, v.start, v.step}
}

// writeKey writes a tuple such that no two texts are equal unless the tuples are. Each part ends by
// itself. A tuple that holds another one twice is written as often as Python walks it, and each time counts.
func (r *run) writeKey(b *strings.Builder, v Value) error {
	list, ok := v.(*List)
	if !ok || !list.Tuple {
		k, err := r.hashKey(v)
		if err != nil {
			return err
		}
		return r.write(b, keyText(k))
	}
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	if err := r.write(b, "("); err != nil {
		return err
	}
	for _, item := range list.Items {
		if err := r.writeKey(b, item); err != nil {
			return err
		}
	}
	return r.write(b, ")")
}

func keyText(k any) string {
	switch k := k.(type) {
	case noneKey:
		return "n"
	case undefKey:
		return "u"
	case string:
		return "s" + strconv.Itoa(len(k)) + ":" + k
	case int64:
		return "i" + intText(k) + ","
	case float64:
		return "f" + strconv.FormatUint(math.Float64bits(k), 16) + ","
	case bigKey:
		return "b" + k.hex + ","
	case rangeKey:
		return fmt.Sprintf("r%d,%d,%d,", k.n, k.start, k.step)
	}
	return fmt.Sprintf("p%p,", k)
}
