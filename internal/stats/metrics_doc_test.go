package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/servemark/servemark/internal/bench"
)

// Every example of docs/metrics.md (`figure` = value) is what the page's own records give.
func TestMetricsPageExamples(t *testing.T) {
	b, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	plan := &bench.Plan{}
	if err := json.Unmarshal([]byte(fenced(t, page, "json")), plan); err != nil {
		t.Fatal(err)
	}
	var records []bench.Record
	for line := range strings.Lines(fenced(t, page, "jsonl")) {
		r := bench.NewRecord(0)
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		records = append(records, r)
	}
	figures := map[string]any{}
	flatten(t, "", Summarize(plan, records, Options{}), figures)
	flatten(t, "strict", Strict(plan, records), figures)
	examples := regexp.MustCompile("`([a-z0-9_.]+)` = ([-0-9.]+|null)").FindAllStringSubmatch(page, -1)
	if len(examples) < 60 {
		t.Errorf("found %d examples on the page, want all of them", len(examples))
	}
	for _, e := range examples {
		got, ok := figures[e[1]]
		if !ok {
			t.Errorf("the page names %s, which no Summary has", e[1])
			continue
		}
		x, isNumber := got.(float64)
		want, err := strconv.ParseFloat(e[2], 64)
		if e[2] == "null" && got != nil || e[2] != "null" && (err != nil || !isNumber || math.Abs(x-want) > 1e-11*math.Max(1, math.Abs(want))) {
			t.Errorf("the page says %s = %s, its records give %v", e[1], e[2], got)
		}
	}
	if v := Summarize(plan, records, Options{}).Verdict; v.Level != bench.Suspect || len(v.Causes) != 1 || !strings.Contains(v.Causes[0], "1 of 5") {
		t.Errorf("verdict of the example = %+v, want what the page says", v)
	}
}

// fenced returns the first block of the page in that language.
func fenced(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("the page has no %s block", language)
	}
	return block
}

// flatten turns a value's JSON into paths under prefix: objects and lists by dots, quantiles as p50 and so on beside mean and max.
func flatten(t *testing.T, prefix string, value any, out map[string]any) {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(join(path, k), x)
			}
		case []any:
			for i, x := range v {
				if q, ok := x.(map[string]any); ok && strings.HasSuffix(path, ".quantiles") {
					out[fmt.Sprintf("%sp%v", strings.TrimSuffix(path, "quantiles"), q["p"])] = q["value"]
				}
				walk(join(path, strconv.Itoa(i)), x)
			}
		default:
			out[path] = v
		}
	}
	walk(prefix, tree)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
