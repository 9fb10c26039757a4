package tokenizer

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
)

// BuiltinName names the tokenizer inside the program: a byte-level BPE of 4,000 tokens for simulated servers, made by
// testdata/gen/sim4k.py. Its special tokens are <|endoftext|>, <|system|>, <|user|> and <|assistant|>.
const BuiltinName = "servemark/sim-4k"

//go:embed sim4k.json.gz
var sim4k []byte

// Builtin returns a tokenizer that needs no file.
func Builtin(name string) (*Tokenizer, error) {
	if name != BuiltinName {
		return nil, fmt.Errorf("there is no built-in tokenizer %q; %s is the one", name, BuiltinName)
	}
	z, err := gzip.NewReader(bytes.NewReader(sim4k))
	if err != nil {
		return nil, fmt.Errorf("built-in tokenizer: %w", err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("built-in tokenizer: %w", err)
	}
	t, err := fromJSON(data)
	if err != nil {
		return nil, fmt.Errorf("built-in tokenizer: %w", err)
	}
	t.info.EOS = "<|endoftext|>"
	return t, nil
}
