package tokenizer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Open reads a tokenizer from a file, or from a directory that holds one. Files are known by their content:
// tokenizer.json, tekken.json, tiktoken rank files, SentencePiece models and GGUF. Beside the file,
// tokenizer_config.json, config.json and chat_template.jinja fill in Info.
func Open(path string) (*Tokenizer, error) {
	st, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no tokenizer at %s: no such file or directory; check the path", path)
		}
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	dir := filepath.Dir(path)
	if st.IsDir() {
		dir = path
		if path, err = findFile(dir); err != nil {
			return nil, err
		}
	}
	if err := readable(path); err != nil {
		return nil, err
	}
	cfg, err := readConfig(dir)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", dir, err)
	}
	t, err := openFile(path, cfg)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	if t.info.Source != "gguf" {
		cfg.fill(t)
	}
	return t, nil
}

// maxFile bounds a tokenizer file that is read whole; the largest known has 34 MB. GGUF files are not read whole.
const maxFile = 1 << 30

// readable refuses what is no file, or too large to be a tokenizer.
func readable(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("tokenizer %s: %w", path, err)
	case !st.Mode().IsRegular():
		return fmt.Errorf("tokenizer %s is no regular file; copy it to one", path)
	case st.Size() > maxFile && !strings.EqualFold(filepath.Ext(path), ".gguf"):
		return fmt.Errorf("tokenizer %s has %d MB, which no tokenizer has; is it the model's weights?", path, st.Size()>>20)
	}
	return nil
}

// findFile picks the best tokenizer file of a directory.
func findFile(dir string) (string, error) {
	for _, pattern := range []string{"tokenizer.json", "tekken.json", "*.tiktoken", "tiktoken.model", "tokenizer.model", "*.model.v*", "spiece.model", "*.model", "*.gguf"} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern))
		if err != nil {
			return "", fmt.Errorf("tokenizer %s: %w", dir, err)
		}
		if len(found) == 1 || len(found) > 1 && pattern == "*.gguf" { // the parts of a split file: the first has the metadata
			return found[0], nil
		}
		if len(found) > 1 {
			return "", fmt.Errorf("%s has several tokenizer files (%s, %s …); name the one to use", dir, filepath.Base(found[0]), filepath.Base(found[1]))
		}
	}
	return "", fmt.Errorf("%s has no tokenizer.json, nor a tekken.json, *.tiktoken, tokenizer.model or *.gguf; "+
		"put the model's tokenizer files there, or name the directory that has them", dir)
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func openFile(path string, cfg *config) (*Tokenizer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	f.Close()
	if err != nil {
		return nil, fmt.Errorf("the file has less than 4 bytes")
	}
	if string(head) == "GGUF" {
		g, err := openGGUF(path)
		if err != nil {
			return nil, err
		}
		return fromGGUF(g)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(data, cfg)
}

// parse reads a file that is no GGUF.
func parse(data []byte, cfg *config) (*Tokenizer, error) {
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("the file is empty")
	case text[0] == '{':
		if tekkenLike(text) {
			return fromTekken(text, cfg)
		}
		return fromJSON(text)
	case text[0] == '<' || bytes.HasPrefix(text, []byte("version https://git-lfs")):
		return nil, fmt.Errorf("the file is a web page or a pointer to a large file, not a tokenizer; download the file itself")
	case rankLike(text):
		return fromRanks(text, cfg)
	}
	return fromSPM(data, cfg)
}

// tekkenLike reports whether a JSON object is a tekken.json: its vocab is a list at the top.
func tekkenLike(text []byte) bool {
	s := &jsonScan{data: text}
	tekken := errors.New("tekken")
	err := s.object(func(key string) error {
		if key == "model" {
			return errors.New("tokenizer.json")
		}
		if key == "vocab" && s.peek() == '[' {
			return tekken
		}
		return s.skip(0)
	})
	return errors.Is(err, tekken)
}

// rankLike reports whether the first line is "base64 number".
func rankLike(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, err := readRanks(line)
	return err == nil
}

func newBuffered(r io.Reader) io.Reader { return bufio.NewReaderSize(r, 1<<16) }
