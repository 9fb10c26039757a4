package tokenizer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNormalizerGrowthIsBounded(t *testing.T) {
	thousand := strings.Repeat("a", 1000)
	step := `{"type":"Replace","pattern":{"String":"a"},"content":"` + thousand + `"}`
	again := `{"type":"Replace","pattern":{"Regex":"a"},"content":"` + thousand + `"}`
	for name, steps := range map[string]string{"literal": strings.Repeat(step+",", 3) + step, "pattern": step + "," + step + "," + step + "," + again} {
		tok, err := FromJSON([]byte(`{"normalizer":{"type":"Sequence","normalizers":[` + steps + `]},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tok.Encode("aabab", false); !errors.Is(err, errGrown) {
			t.Errorf("%s: Encode = %v, want the bound on growth", name, err)
		}
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	if _, err := Open(os.DevNull); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("Open(%s) = %v, want that it is no regular file", os.DevNull, err)
	}
	large := filepath.Join(t.TempDir(), "model.safetensors")
	f, err := os.Create(large)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxFile + 1); err != nil { // sparse: takes no disk
		t.Skipf("no sparse file of 1 GiB here: %v", err)
	}
	f.Close()
	if _, err := Open(large); err == nil || !strings.Contains(err.Error(), "weights") {
		t.Errorf("Open of a huge file = %v, want that no tokenizer is so large", err)
	}
}
