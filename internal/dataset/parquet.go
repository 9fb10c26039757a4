package dataset

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// isParquet reports whether a path names a Parquet file.
func isParquet(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".parquet") }

// asLines returns a file of JSON Lines with the rows of path: path itself, or for Parquet a temporary copy, which done removes.
func asLines(path string) (lines string, done func(), err error) {
	if !isParquet(path) {
		return path, func() {}, nil
	}
	out, err := os.CreateTemp("", "servemark-*.jsonl")
	if err != nil {
		return "", nil, fmt.Errorf("%s cannot be turned into JSON Lines: %w", path, err)
	}
	done = func() { os.Remove(out.Name()) }
	w := bufio.NewWriterSize(out, 1<<20)
	err = writeParquet(path, w)
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		done()
		return "", nil, fmt.Errorf("%s cannot be read as Parquet: %w; is the download complete?", path, err)
	}
	return out.Name(), done, nil
}

// writeParquet writes each row as a JSON object: nested groups as objects, repeated fields as arrays, bytes that are no text in
// base64.
func writeParquet(path string, w io.Writer) (err error) {
	defer func() {
		if r := recover(); r != nil { // the reader panics on some damaged files
			err = fmt.Errorf("the file is damaged: %v", r)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		return err
	}
	columns := file.Schema().Columns()
	enc := json.NewEncoder(w)
	for _, group := range file.RowGroups() {
		if err := writeRows(group, columns, enc); err != nil {
			return err
		}
	}
	return nil
}

func writeRows(group parquet.RowGroup, columns [][]string, enc *json.Encoder) error {
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 16)
	for {
		n, err := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			object := map[string]any{}
			row.Range(func(column int, values []parquet.Value) bool {
				put(object, columns[column], values)
				return true
			})
			if err := enc.Encode(object); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// put stores a column's values of one row under its path.
func put(object map[string]any, path []string, values []parquet.Value) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	last := path[len(path)-1]
	if len(values) == 1 {
		object[last] = plainValue(values[0])
		return
	}
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = plainValue(v)
	}
	object[last] = list
}

func plainValue(v parquet.Value) any {
	if v.IsNull() {
		return nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32, parquet.Int64:
		return v.Int64()
	case parquet.Float, parquet.Double:
		return v.Double()
	}
	b := v.ByteArray()
	if utf8.Valid(b) {
		return string(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}
