package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// dataset reads what to ask. What a data set alone can judge (lengths, ratios, paths) is judged there.
func (s *sglangReader) dataset() {
	d := &s.job.spec.Dataset
	d.Name = s.text("dataset-name")
	if !slices.Contains(sglangDatasets(), d.Name) && slices.Contains(s.def("dataset-name").choices, d.Name) {
		s.wrong("dataset-name", fmt.Sprintf("%s is refused: %s; there are %s", d.Name, notYetData, strings.Join(sglangDatasets(), ", ")), "")
	}
	if !slices.Contains([]string{"random-ids", "image", "generated-shared-prefix"}, d.Name) {
		d.Path = s.text("dataset-path")
	}
	s.rows(d)
	d.SendIDs = s.on("tokenize-prompt")
	s.sendIDs(d)
	switch d.Name {
	case "random", "random-ids":
		s.randomLengths(d)
	case "sharegpt", "custom":
		d.FixedOutput, d.ContextLimit = s.optional("sharegpt-output-len", 4), s.optional("sharegpt-context-len", 1)
		d.PromptSuffix, d.ApplyTemplate = s.text("prompt-suffix"), s.on("apply-chat-template")
	case "openai":
		d.FixedOutput = s.optional("sharegpt-output-len", 0)
	case "longbench_v2":
		d.FixedOutput, d.ContextLimit = s.optional("sharegpt-output-len", 1), s.optional("sharegpt-context-len", 1)
	case "agentic-trace":
		s.agentic(d)
	case "speed-bench":
		d.FixedOutput, d.Category = s.atLeast("speed-bench-output-len", 1), s.text("speed-bench-category")
	case "generated-shared-prefix":
		s.sharedPrefix(d)
	case "mooncake":
		d.Mooncake = &bench.Mooncake{Slowdown: s.number("mooncake-slowdown-factor"), Rounds: s.atLeast("mooncake-num-rounds", 1), Workload: s.text("mooncake-workload")}
		if !(d.Mooncake.Slowdown >= 0) {
			s.wrong("mooncake-slowdown-factor", fmt.Sprintf("%v is out of range: 0 (all at once) or more", d.Mooncake.Slowdown), "1 replays as recorded")
		}
	case "image":
		s.randomLengths(d)
		s.images(d)
	case "mmmu":
		d.OutputTokens = s.atLeast("random-output-len", 1)
	}
}

// rows reads how many prompts are wanted; below 1 means all, where the original has it so.
func (s *sglangReader) rows(d *bench.DatasetSpec) {
	d.Rows, _ = s.whole("num-prompts")
	if d.Rows >= 1 {
		return
	}
	if d.Name == "openai" || d.Name == "agentic-trace" {
		d.Rows = 0
		return
	}
	s.wrong("num-prompts", fmt.Sprintf("%d is out of range: at least 1", d.Rows), "")
}

// sendIDs refuses token ids where the original refuses or ignores them, and where the backend takes none.
func (s *sglangReader) sendIDs(d *bench.DatasetSpec) {
	if !d.SendIDs {
		return
	}
	if !slices.Contains([]string{"random", "random-ids", "generated-shared-prefix", "mooncake"}, d.Name) {
		s.wrong("tokenize-prompt", "is refused with --dataset-name "+d.Name+", whose prompts are sent as they are", "use random, random-ids or generated-shared-prefix")
	}
	if s.api == bench.APITriton {
		s.wrong("tokenize-prompt", "is refused with --backend trt, which takes text only", "")
	}
}

// randomLengths reads the lengths of the random data sets.
func (s *sglangReader) randomLengths(d *bench.DatasetSpec) {
	d.InputTokens = s.atLeast("random-input-len", 1)
	least := 1
	if s.api.Pooling() {
		least = 0 // nothing is generated
	}
	d.OutputTokens = s.atLeast("random-output-len", least)
	d.RangeRatio = s.number("random-range-ratio")
	if !(d.RangeRatio >= 0 && d.RangeRatio <= 1) {
		s.wrong("random-range-ratio", fmt.Sprintf("%v is out of range: 0 (lengths from 1) to 1 (exact lengths)", d.RangeRatio), "")
	} else if !s.typed("random-range-ratio") {
		s.note("lengths are drawn from 1 to --random-input-len and --random-output-len (--random-range-ratio is 0 by default, as in the original); 1 makes them exact")
	}
}

func (s *sglangReader) agentic(d *bench.DatasetSpec) {
	d.FixedOutput = s.optional("sharegpt-output-len", 0)
	d.Agentic = &bench.AgenticTrace{Offset: s.atLeast("dataset-offset", 0)}
	if n, ok := s.whole("agentic-max-turns"); ok {
		if n < 0 {
			s.wrong("agentic-max-turns", fmt.Sprintf("%d is out of range: at least 1", n), "leave it out for all turns")
		}
		d.Agentic.MaxTurns = max(n, 0)
	}
}

// sharedPrefix reads the gsp flags; the exponent belongs to zipf and zipf needs it, as in the original.
func (s *sglangReader) sharedPrefix(d *bench.DatasetSpec) {
	g := &bench.SharedPrefix{
		Groups: s.atLeast("gsp-num-groups", 1), PromptsPerGroup: s.atLeast("gsp-prompts-per-group", 1), SystemTokens: s.atLeast("gsp-system-prompt-len", 1),
		QuestionTokens: s.atLeast("gsp-question-len", 1), OutputTokens: s.atLeast("gsp-output-len", 1), RangeRatio: s.number("gsp-range-ratio"),
		Turns: s.atLeast("gsp-num-turns", 1), RoutingKey: s.on("gsp-send-routing-key"), Ordered: s.on("gsp-ordered"), Fast: s.on("gsp-fast-prepare"),
	}
	if !(g.RangeRatio >= 0 && g.RangeRatio <= 1) {
		s.wrong("gsp-range-ratio", fmt.Sprintf("%v is out of range: 0 (lengths from 1) to 1 (exact lengths)", g.RangeRatio), "")
	}
	zipf := s.text("gsp-group-distribution") == "zipf"
	switch {
	case zipf && !s.typed("gsp-zipf-alpha"):
		s.wrong("gsp-group-distribution", "zipf needs its exponent", "give --gsp-zipf-alpha, for example 1.2")
	case !zipf && s.typed("gsp-zipf-alpha"):
		s.wrong("gsp-zipf-alpha", "belongs to --gsp-group-distribution zipf", "give that too, or leave this out")
	case zipf:
		g.ZipfAlpha = s.number("gsp-zipf-alpha")
	}
	d.SharedPrefix = g
}

// images reads what the pictures are.
func (s *sglangReader) images(d *bench.DatasetSpec) {
	format, content := strings.ToLower(s.text("image-format")), s.text("image-content")
	if format == "jpg" {
		format = "jpeg"
	}
	if format != "jpeg" && format != "png" {
		s.wrong("image-format", fmt.Sprintf("%q is not one of jpeg, png", s.text("image-format")), "")
	}
	if content != "random" && content != "blank" {
		s.wrong("image-content", fmt.Sprintf("%q is not one of random, blank", content), "")
	}
	d.Images = &bench.Images{Count: s.atLeast("image-count", 1), RandomCount: s.on("random-image-count"), Resolution: s.text("image-resolution"),
		Format: format, Blank: content == "blank"}
}

// atLeast reads a whole number with a lower bound.
func (s *sglangReader) atLeast(name string, least int) int {
	n, _ := s.whole(name)
	if n < least {
		s.wrong(name, fmt.Sprintf("%d is out of range: at least %d", n, least), "")
	}
	return n
}

// optional reads a number that may be left out; 0 means that it is not set.
func (s *sglangReader) optional(name string, least int) int {
	n, ok := s.whole(name)
	if !ok {
		return 0
	}
	if n < least {
		s.wrong(name, fmt.Sprintf("%d is out of range: at least %d", n, least), "")
	}
	return n
}
