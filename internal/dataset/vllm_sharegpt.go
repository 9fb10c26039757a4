package dataset

import "github.com/servemark/servemark/internal/bench"

// sharegpt of vLLM: as SGLang's, but pairs of under 4 tokens on a side, of over 1,024 in the prompt or over 2,048 in all are
// left out, and a short file's rows are repeated.
func loadVLLMShareGPT(j *job) error {
	if err := j.shareGPT(shape{keys: []string{"value"}, byRole: !j.spec.Strict, pluralOnly: true, fit: fitVLLM}); err != nil {
		return err
	}
	j.repeatRows(j.spec.Seed)
	return nil
}

func fitVLLM(d *bench.DatasetSpec, _ bool, input, output int) string {
	switch {
	case input < 4 || output < 4 && d.FixedOutput == 0:
		return "prompt or reply under 4 tokens"
	case input > 1024 || input+output > 2048:
		return "prompt over 1024 tokens, or over 2048 with its reply"
	}
	return ""
}
