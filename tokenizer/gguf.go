package tokenizer

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
)

// gguf holds the tokenizer.* and general.* metadata of a GGUF file. Tensors are not read.
type gguf struct {
	text    map[string]string
	number  map[string]float64 // numbers and booleans
	texts   map[string][]string
	numbers map[string][]float64
}

// Value types of GGUF metadata.
const (
	ggufUint8 = iota
	ggufInt8
	ggufUint16
	ggufInt16
	ggufUint32
	ggufInt32
	ggufFloat32
	ggufBool
	ggufString
	ggufArray
	ggufUint64
	ggufInt64
	ggufFloat64
)

const (
	ggufMostKeys = 1 << 16
	ggufMostText = 1 << 24 // bytes of one string: a chat template is the longest
	ggufMostList = 1 << 24
)

// ggufReader reads little-endian values and knows how many bytes are left, so that no length can ask for more memory
// than the file has bytes.
type ggufReader struct {
	r    io.Reader
	left int64
	buf  [8]byte
}

// openGGUF reads the metadata of a file.
func openGGUF(path string) (*gguf, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readGGUF(newBuffered(f), st.Size())
}

// readGGUF reads the header and the metadata of a file of size bytes.
func readGGUF(in io.Reader, size int64) (*gguf, error) {
	r := &ggufReader{r: in, left: size}
	var magic [4]byte
	if err := r.read(magic[:]); err != nil || string(magic[:]) != "GGUF" {
		return nil, fmt.Errorf("not a GGUF file")
	}
	version, err := r.uint(4)
	if err != nil {
		return nil, err
	}
	if version != 2 && version != 3 {
		return nil, fmt.Errorf("GGUF version %d is not supported; 2 and 3 are (a big-endian file shows a huge one)", version)
	}
	if _, err := r.uint(8); err != nil { // tensors
		return nil, err
	}
	keys, err := r.uint(8)
	if err != nil {
		return nil, err
	}
	if keys > ggufMostKeys {
		return nil, fmt.Errorf("the GGUF file says it has %d metadata keys; it is damaged", keys)
	}
	g := &gguf{text: map[string]string{}, number: map[string]float64{}, texts: map[string][]string{}, numbers: map[string][]float64{}}
	for range keys {
		if err := g.entry(r); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// entry reads one key and its value.
func (g *gguf) entry(r *ggufReader) error {
	key, err := r.string()
	if err != nil {
		return err
	}
	typ, err := r.uint(4)
	if err != nil {
		return err
	}
	switch typ {
	case ggufString:
		g.text[key], err = r.string()
	case ggufArray:
		err = g.list(r, key)
	default:
		g.number[key], err = r.number(typ)
	}
	if err != nil {
		return fmt.Errorf("GGUF key %q: %w", clip(key), err)
	}
	return nil
}

func (g *gguf) list(r *ggufReader, key string) error {
	typ, err := r.uint(4)
	if err != nil {
		return err
	}
	n, err := r.uint(8)
	if err != nil {
		return err
	}
	least := uint64(1) // bytes of an element
	if typ == ggufString {
		least = 8
	}
	if n > ggufMostList || n*least > uint64(r.left) {
		return fmt.Errorf("a list of %d values is longer than the file", n)
	}
	if typ == ggufString {
		all := make([]string, n)
		for i := range all {
			if all[i], err = r.string(); err != nil {
				return err
			}
		}
		g.texts[key] = all
		return nil
	}
	all := make([]float64, n)
	for i := range all {
		if all[i], err = r.number(typ); err != nil {
			return err
		}
	}
	g.numbers[key] = all
	return nil
}

func (r *ggufReader) read(b []byte) error {
	if int64(len(b)) > r.left {
		return fmt.Errorf("the GGUF file is cut short")
	}
	if _, err := io.ReadFull(r.r, b); err != nil {
		return fmt.Errorf("the GGUF file is cut short: %w", err)
	}
	r.left -= int64(len(b))
	return nil
}

func (r *ggufReader) uint(size int) (uint64, error) {
	clear(r.buf[:])
	err := r.read(r.buf[:size])
	return binary.LittleEndian.Uint64(r.buf[:]), err
}

func (r *ggufReader) string() (string, error) {
	n, err := r.uint(8)
	if err != nil {
		return "", err
	}
	if n > ggufMostText || int64(n) > r.left {
		return "", fmt.Errorf("a text of %d bytes is longer than the file allows", n)
	}
	b := make([]byte, n)
	err = r.read(b)
	return stringOf(b), err
}

func (r *ggufReader) number(typ uint64) (float64, error) {
	sizes := [...]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}
	if typ >= uint64(len(sizes)) || sizes[typ] == 0 {
		return 0, fmt.Errorf("value type %d is not known here", typ)
	}
	v, err := r.uint(sizes[typ])
	if err != nil {
		return 0, err
	}
	switch typ {
	case ggufInt8:
		return float64(int8(v)), nil
	case ggufInt16:
		return float64(int16(v)), nil
	case ggufInt32:
		return float64(int32(v)), nil
	case ggufInt64:
		return float64(int64(v)), nil
	case ggufFloat32:
		return float64(math.Float32frombits(uint32(v))), nil
	case ggufFloat64:
		return math.Float64frombits(v), nil
	}
	return float64(v), nil
}

// id returns a token id among the metadata, or otherwise.
func (g *gguf) id(key string, otherwise int) int {
	if v, ok := g.number[key]; ok && v >= 0 && v <= maxTokenID {
		return int(v)
	}
	return otherwise
}

// flag returns a boolean, or otherwise if it is not set.
func (g *gguf) flag(key string, otherwise bool) bool {
	if v, ok := g.number[key]; ok {
		return v != 0
	}
	return otherwise
}
