package tokenizer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Open reads a tokenizer from a file, or from a directory that holds one.
func Open(path string) (*Tokenizer, error) {
	st, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no tokenizer at %s: no such file or directory; check the path", path)
		}
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	if st.IsDir() {
		return openDir(path)
	}
	return openFile(path)
}

func openDir(dir string) (*Tokenizer, error) {
	path := filepath.Join(dir, "tokenizer.json")
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%s has no tokenizer.json; put the model's tokenizer files there, or name the directory that has them", dir)
	}
	return openFile(path)
}

func openFile(path string) (*Tokenizer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	t, err := fromJSON(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	return t, nil
}
