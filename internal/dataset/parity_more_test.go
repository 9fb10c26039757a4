package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// moreReference is one run of the originals' code in testdata/seed_parity/more.jsonl.gz, with what it drew next from both streams.
type moreReference struct {
	Tool, Kind string
	Seed       int64
	Options    struct {
		Rows        int                 `json:"num_prompts"`
		Requests    int                 `json:"num_requests"`
		Path        string              `json:"dataset_path"`
		Backend     string              `json:"backend"`
		Input       int                 `json:"random_input_len"`
		Output      int                 `json:"random_output_len"`
		Ratio       float64             `json:"random_range_ratio"`
		Images      int                 `json:"image_count"`
		RandomCount bool                `json:"random_image_count"`
		Content     string              `json:"image_content"`
		Format      string              `json:"image_format"`
		Resolution  string              `json:"image_resolution"`
		FixedOutput int                 `json:"sharegpt_output_len"`
		Context     int                 `json:"sharegpt_context_len"`
		Speed       string              `json:"speed_bench_category"`
		SpeedOutput int                 `json:"speed_bench_output_len"`
		Offset      int                 `json:"dataset_offset"`
		MaxTurns    int                 `json:"agentic_max_turns"`
		Groups      int                 `json:"gsp_num_groups"`
		Per         int                 `json:"gsp_prompts_per_group"`
		System      int                 `json:"gsp_system_prompt_len"`
		Question    int                 `json:"gsp_question_len"`
		GroupOutput int                 `json:"gsp_output_len"`
		GroupRatio  float64             `json:"gsp_range_ratio"`
		Turns       int                 `json:"gsp_num_turns"`
		Ordered     bool                `json:"gsp_ordered"`
		Category    string              `json:"category"`
		Subset      string              `json:"dataset_subset"`
		Plain       bool                `json:"skip_chat_template"`
		VLLMInput   int                 `json:"input_len"`
		VLLMOutput  int                 `json:"output_len"`
		VLLMRatio   float64             `json:"range_ratio"`
		Prefix      int                 `json:"prefix_len"`
		Batch       int                 `json:"batchsize"`
		Reranker    bool                `json:"is_reranker"`
		Base        int                 `json:"base_items_per_request"`
		ItemRatio   float64             `json:"num_mm_items_range_ratio"`
		Limit       struct{ Image int } `json:"limit_mm_per_prompt"`
		Buckets     [][4]float64        `json:"bucket_config"`
	}
	Rows []struct {
		Prompt    json.RawMessage
		PromptLen int  `json:"prompt_len"`
		OutputLen int  `json:"output_len"`
		TextLen   *int `json:"text_len"`
		Images    []struct {
			Format string
			Size   [2]int
			SHA256 string
			Mean   float64
		}
	}
	Python, Gaps []float64
}

func (r *moreReference) spec() *bench.Spec {
	o := &r.Options
	s := &bench.Spec{Dialect: bench.Dialect(r.Tool), Strict: true, Seed: r.Seed, Target: bench.Target{API: bench.APIChat}}
	d := &s.Dataset
	*d = bench.DatasetSpec{Name: r.Kind, Rows: max(o.Rows, o.Requests), InputTokens: max(o.Input, o.VLLMInput), OutputTokens: max(o.Output, o.VLLMOutput),
		RangeRatio: o.Ratio + o.VLLMRatio, FixedOutput: o.FixedOutput, ContextLimit: o.Context, Category: o.Speed + o.Category, Subset: o.Subset}
	if o.Path != "" {
		d.Path = "testdata/seed_parity/" + o.Path
	}
	switch r.Kind {
	case "image":
		d.Images = &bench.Images{Count: o.Images, RandomCount: o.RandomCount, Resolution: o.Resolution, Format: o.Format, Blank: o.Content == "blank"}
		if o.Backend == "sglang" {
			s.Target.API = bench.APIGenerate
		}
	case "agentic-trace":
		d.Agentic = &bench.AgenticTrace{Offset: o.Offset, MaxTurns: o.MaxTurns}
	case "speed-bench":
		d.FixedOutput = o.SpeedOutput
	case "generated-shared-prefix":
		d.SharedPrefix = &bench.SharedPrefix{Groups: o.Groups, PromptsPerGroup: o.Per, SystemTokens: o.System, QuestionTokens: o.Question, OutputTokens: o.GroupOutput,
			RangeRatio: o.GroupRatio, Turns: o.Turns, Ordered: o.Ordered}
		d.Rows = o.Groups * o.Per
	}
	if r.Tool == "vllm" {
		d.VLLM = &bench.VLLMData{OutputRangeRatio: o.VLLMRatio, PrefixTokens: o.Prefix, BatchSize: o.Batch, Pairs: o.Reranker}
		s.Target.API = bench.APICompletions
		switch r.Kind {
		case "spec_bench", "speed_bench":
			d.FixedOutput, d.ApplyTemplate = o.VLLMOutput, !o.Plain
		case "random-rerank":
			s.Target.API = bench.APIRerank
		case "random":
			s.Target.API = bench.APIEmbeddings
		case "random-mm":
			s.Target.API = bench.APIChat
			d.VLLM.Images = &bench.ImageBuckets{Base: o.Base, RangeRatio: o.ItemRatio, Limit: o.Limit.Image}
			for _, b := range o.Buckets {
				d.VLLM.Images.Buckets = append(d.VLLM.Images.Buckets, bench.ImageBucket{Height: int(b[0]), Width: int(b[1]), Frames: int(b[2]), Share: b[3]})
			}
		}
	}
	return s
}

// TestSameRowsAsTheOriginals: texts, lengths, conversations, image sizes and pixels, and what is drawn after them.
func TestSameRowsAsTheOriginals(t *testing.T) {
	tok := tokenizers(t, "gpt2")["gpt2"]
	if tok == nil {
		t.Fatal("gpt2 is missing from the tokenizer's testdata")
	}
	dec := json.NewDecoder(bytes.NewReader(unzip(t, "testdata/seed_parity/more.jsonl.gz")))
	compared := map[string]int{}
	for dec.More() {
		var ref moreReference
		if err := dec.Decode(&ref); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s %s seed %d", ref.Tool, ref.Kind, ref.Seed)
		compared[ref.Kind]++
		s := ref.spec()
		in := Inputs{Tokenizer: tok, Template: imageTemplate, BOS: "<s>"}
		if faults := append(CheckSpec(s), CheckInputs(s, &in)...); len(faults) > 0 {
			t.Errorf("%s: refused: %v", what, faults)
			continue
		}
		rnd, err := NewStreams(s.Seed)
		if err != nil {
			t.Fatal(err)
		}
		set, err := Load(s, &in, rnd)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		ref.compareRows(t, what, set)
		for _, want := range ref.Python {
			if got := rnd.Python.Float64(); got != want {
				t.Errorf("%s: Python's stream goes on with %v, want %v", what, got, want)
			}
		}
		for _, want := range ref.Gaps {
			if got := rnd.NumPy.Exponential(0.1); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("%s: NumPy's stream goes on with %v, want %v", what, got, want)
			}
		}
	}
	for kind, n := range map[string]int{"image": 5, "longbench_v2": 3, "speed-bench": 3, "agentic-trace": 2, "generated-shared-prefix": 2, "spec_bench": 3,
		"speed_bench": 2, "burstgpt": 2, "random-rerank": 3, "random": 1, "random-mm": 2} {
		if compared[kind] != n {
			t.Errorf("%d runs of %s compared, want %d", compared[kind], kind, n)
		}
	}
}

// compareRows compares conversations with the requests that begin them, all others one by one.
func (r *moreReference) compareRows(t *testing.T, what string, set *Set) {
	t.Helper()
	next, err := (&bench.Plan{Requests: set.Requests}).Turns()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	row := 0
	for i := range set.Requests {
		first := &set.Requests[i]
		if first.After != nil {
			continue
		}
		if row >= len(r.Rows) {
			t.Errorf("%s: more than the %d rows wanted", what, len(r.Rows))
			return
		}
		want := r.Rows[row]
		got, images := r.asked(t, set, next, i)
		if !reflect.DeepEqual(got, plainRoles(value(t, want.Prompt))) {
			t.Errorf("%s: row %d\ngot  %.400v\nwant %.400s", what, row, got, want.Prompt)
		}
		tokens, wantTokens := first.InputTokens.Or(-1), want.PromptLen
		if want.TextLen != nil {
			tokens, wantTokens = first.TextTokens.Or(-1), *want.TextLen
		}
		if tokens != wantTokens || first.OutputTokens != want.OutputLen || len(images) != len(want.Images) {
			t.Errorf("%s: row %d has %d tokens in, %d out, %d images; want %d, %d, %d", what, row, tokens, first.OutputTokens, len(images), wantTokens, want.OutputLen, len(want.Images))
			continue
		}
		for k, uri := range images {
			if err := samePicture(uri, want.Images[k].Format, want.Images[k].Size, want.Images[k].SHA256, want.Images[k].Mean); err != nil {
				t.Errorf("%s: row %d image %d: %v", what, row, k, err)
			}
		}
		row++
	}
	if row != len(r.Rows) {
		t.Errorf("%s: %d rows, want %d", what, row, len(r.Rows))
	}
}

// asked is what a row asks in the originals' form: a text, a list of texts, or one for each turn; and its images.
func (r *moreReference) asked(t *testing.T, set *Set, next []int, i int) (any, []string) {
	p := &set.Requests[i].Prompt
	switch {
	case r.Kind == "image" || r.Kind == "random-mm":
		return imagesOf(t, &set.Requests[i])
	case p.Texts != nil:
		var list []any
		for _, s := range p.Texts {
			list = append(list, s)
		}
		return list, nil
	case p.Messages != nil:
		var turns []any
		for k := i; k >= 0; k = next[k] {
			turn := value(t, set.Requests[k].Prompt.Messages)
			if r.Kind == "generated-shared-prefix" { // a text each
				turn = turn.([]any)[0].(map[string]any)["content"]
			}
			turns = append(turns, turn)
		}
		return turns, nil
	}
	return p.Text, nil
}

// plainRoles drops what messages hold beside role and content.
func plainRoles(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plainRoles(v[i])
		}
	case map[string]any:
		for k := range v {
			if k != "role" && k != "content" {
				delete(v, k)
			}
		}
	}
	return v
}

// imagesOf takes text and images out of a request.
func imagesOf(t *testing.T, r *bench.Request) (text string, uris []string) {
	t.Helper()
	if r.Prompt.Messages == nil {
		var extra struct {
			Images []string `json:"image_data"`
		}
		if err := json.Unmarshal(r.Extra, &extra); err != nil {
			t.Fatal(err)
		}
		return r.Prompt.Text, extra.Images
	}
	var messages []struct {
		Role    string
		Content []struct {
			Type, Text string
			Image      struct{ URL string } `json:"image_url"`
		}
	}
	if err := json.Unmarshal(r.Prompt.Messages, &messages); err != nil || len(messages) != 1 || messages[0].Role != "user" {
		t.Fatalf("%.100s: %v, want one message of the user's", r.Prompt.Messages, err)
	}
	for _, p := range messages[0].Content {
		if p.Type == "text" {
			text = p.Text
			continue
		}
		uris = append(uris, p.Image.URL)
	}
	return text, uris
}

// samePicture decodes an image and compares it with size, pixels (PNG) or mean (JPEG, whose encoders differ).
func samePicture(uri, head string, size [2]int, sha string, mean float64) error {
	format, encoded, _ := strings.Cut(uri, ",")
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || format != head {
		return fmt.Errorf("it begins with %q (%v), want %q", format, err, head)
	}
	var img image.Image
	if sha != "" {
		img, err = png.Decode(bytes.NewReader(b))
	} else {
		img, err = jpeg.Decode(bytes.NewReader(b))
	}
	if err != nil {
		return err
	}
	if img.Bounds().Dx() != size[0] || img.Bounds().Dy() != size[1] {
		return fmt.Errorf("it is %v, want %v", img.Bounds(), size)
	}
	var rgb []byte
	sum := 0.0
	for y := range size[1] {
		for x := range size[0] {
			r, g, b, _ := img.At(x, y).RGBA()
			rgb = append(rgb, byte(r>>8), byte(g>>8), byte(b>>8))
			sum += float64(r>>8) + float64(g>>8) + float64(b>>8)
		}
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(rgb)); sha != "" && got != sha {
		return fmt.Errorf("its pixels hash to %s, want %s", got, sha)
	}
	if got := sum / float64(len(rgb)); math.Abs(got-mean) > 1 {
		return fmt.Errorf("its mean is %v, want %v", got, mean)
	}
	return nil
}

// imageTemplate is plainTemplate with a place for each image.
func imageTemplate(messages json.RawMessage, generate bool) (string, error) {
	var list []struct {
		Role    string
		Content any
	}
	if err := json.Unmarshal(messages, &list); err != nil {
		return "", err
	}
	out := "<s>"
	for _, m := range list {
		out += "<" + m.Role + ">"
		parts, ok := m.Content.([]any)
		if !ok {
			out += m.Content.(string)
		}
		for _, p := range parts {
			if p.(map[string]any)["type"] == "image" {
				out += "<img>"
			} else {
				out += p.(map[string]any)["text"].(string)
			}
		}
	}
	if generate {
		out += "<assistant>"
	}
	return out, nil
}

// TestKindsAreCovered: every data set of a dialect is compared with an original somewhere, or stands here with a reason.
func TestKindsAreCovered(t *testing.T) {
	elsewhere := map[string]string{
		"random": "seed_parity", "random-ids": "seed_parity", "sharegpt": "seed_parity", "generated-shared-prefix": "seed_parity", "custom": "files", "openai": "files",
		"mooncake": "files", "prefix_repetition": "seed_parity", "mmmu": "draws only an order, Python's sample, whose test is in pyrand",
		"timed_trace": "its original draws from a hash that differs from process to process",
	}
	more := string(unzip(t, "testdata/seed_parity/more.jsonl.gz"))
	for _, d := range []bench.Dialect{bench.DialectSGLang, bench.DialectVLLM} {
		names := Names(d)
		for i, name := range names {
			if slices.Index(names, name) != i {
				t.Errorf("%s has two data sets %q", d, name)
			}
			if elsewhere[name] == "" && !strings.Contains(more, `"kind": "`+name+`"`) {
				t.Errorf("%s's data set %q is compared with no original", d, name)
			}
		}
	}
}
