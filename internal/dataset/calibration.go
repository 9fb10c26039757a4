package dataset

import (
	"fmt"
	"math"

	"github.com/servemark/servemark/internal/bench"
)

// Calibration says how long a prompt of the embedded corpus is in tokens where there is no tokenizer: tokens =
// Offset + TokensPerWord·words.
type Calibration struct {
	TokensPerWord float64
	// Offset is what the server adds to any prompt: opening token, chat template.
	Offset float64
	// Error is by how much, in tokens, a prompt of a few hundred words may miss what the line says (one standard deviation).
	Error float64
	// Source says how it was found.
	Source string
}

// builtInSlope is the mean over seven byte-pair tokenizers (gpt2, cl100k, o200k, Qwen 3, Mistral Nemo, Mistral v3, SmolLM2), which
// count 1.30 to 1.51 tokens a word of the embedded corpus.
const builtInSlope = 1.39

// spread is how far texts of the embedded corpus lie from the line, in tokens per √word, for the same tokenizers (one standard
// deviation; 0.7 to 1.1).
const spread = 0.9

// Point is one measurement: a prompt's words and the prompt tokens the server counted.
type Point struct{ Words, Tokens int }

// BuiltInCalibration is used where nothing may be asked before the load.
func BuiltInCalibration() Calibration {
	return Calibration{TokensPerWord: builtInSlope, Source: fmt.Sprintf("about %.2f tokens a word, ± 8 %%", builtInSlope)}
}

// Fit draws the line through two measurements of CalibrationPrompt texts.
func Fit(a, b Point) (Calibration, error) {
	if a.Words > b.Words {
		a, b = b, a
	}
	span := float64(b.Words - a.Words)
	if span <= 0 {
		return Calibration{}, fmt.Errorf("two prompts of %d words give no line: calibrate with two lengths", a.Words)
	}
	slope := float64(b.Tokens-a.Tokens) / span
	if slope < 0.5 || slope > 8 {
		return Calibration{}, fmt.Errorf("the server counted %d tokens for %d words and %d for %d, which is no count of text: its usage cannot be trusted; give --tokenizer", a.Tokens, a.Words, b.Tokens, b.Words)
	}
	c := Calibration{TokensPerWord: slope, Offset: float64(a.Tokens) - slope*float64(a.Words)}
	// Two counts are rounded to whole tokens; texts of the same number of words differ by spread·√words.
	c.Error = math.Sqrt(0.5 + 2*spread*spread*float64(b.Words))
	c.Source = fmt.Sprintf("measured: %.3f tokens a word, %.1f around the prompt, ± %.0f tokens at %d words", c.TokensPerWord, c.Offset, c.Error, b.Words)
	return c, nil
}

// Words is how many words make about so many tokens; at least 1.
func (c Calibration) Words(tokens int) int {
	return max(1, int(math.Round((float64(tokens)-c.Offset)/c.TokensPerWord)))
}

// tokens is about how many tokens so many words are, without the offset.
func (c Calibration) tokens(words int) int { return int(math.Round(c.TokensPerWord * float64(words))) }

// calibration is the one in use. What a chat template adds is not part of a prompt's asked length, so on chat routes the
// offset is left out.
func (j *job) calibration() Calibration {
	c := j.in.Calibration
	if c.TokensPerWord == 0 {
		c = BuiltInCalibration()
	}
	if j.spec.Target.API == bench.APIChat {
		c.Offset = 0
	}
	return c
}
