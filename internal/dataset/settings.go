package dataset

import (
	"slices"

	"github.com/servemark/servemark/internal/bench"
)

// setting is an optional part of a DatasetSpec that only some data sets look at, in the word that users type.
type setting string

const (
	path         setting = "--dataset-path"
	sendIDs      setting = "--tokenize-prompt"
	fixedOutput  setting = "--sharegpt-output-len"
	contextLimit setting = "--sharegpt-context-len"
	suffix       setting = "--prompt-suffix"
	template     setting = "--apply-chat-template"
	category     setting = "the category"
)

// conversationSettings are what sharegpt and custom look at.
func conversationSettings() []setting {
	return []setting{path, sendIDs, fixedOutput, contextLimit, suffix, template}
}

func (k kind) takes(x setting) bool { return slices.Contains(k.uses, x) }

// inert lists what the Spec sets and the data set does not look at.
func (k kind) inert(s *bench.Spec) []setting {
	d := &s.Dataset
	var out []setting
	for _, x := range []struct {
		setting
		set bool
	}{
		{path, d.Path != ""}, {sendIDs, d.SendIDs}, {fixedOutput, d.FixedOutput != 0}, {contextLimit, d.ContextLimit != 0},
		{suffix, d.PromptSuffix != ""}, {template, d.ApplyTemplate}, {category, d.Category != ""},
	} {
		if x.set && !k.takes(x.setting) {
			out = append(out, x.setting)
		}
	}
	return out
}

// templateFlag is what asks for the chat template in a dialect, withoutTemplate what to do to be without.
func templateFlag(d bench.Dialect) string {
	if d == bench.DialectVLLM {
		return "the data set custom"
	}
	return string(template)
}

// outputFlag is what sets the length of all answers in a dialect.
func outputFlag(d bench.Dialect) string {
	if d == bench.DialectNative {
		return "--output-tokens"
	}
	return string(fixedOutput)
}

func withoutTemplate(d bench.Dialect) string {
	if d == bench.DialectVLLM {
		return "give --skip-chat-template"
	}
	return "leave the flag out"
}

// nothingMissing is for data sets that need nothing beyond what CheckInputs looks for.
func nothingMissing(*bench.Spec, *Inputs) []error { return nil }
