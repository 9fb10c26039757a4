package tokenizer

import (
	"math/rand/v2"
	"testing"
)

func TestPairTableHoldsWhatWasSet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 7, 5000} {
		table, err := newPairTable(n)
		if err != nil {
			t.Fatal(err)
		}
		want := map[[2]uint32]uint32{}
		for i := range n {
			pair := [2]uint32{r.Uint32N(200), r.Uint32N(maxTokenID)}
			want[pair] = uint32(i)
			table.set(pair[0], pair[1], uint32(i))
		}
		for pair, rank := range want {
			if got := table.rank(pair[0], pair[1]); got != rank {
				t.Fatalf("of %d: rank(%v) = %d, want %d", n, pair, got, rank)
			}
		}
		for range 20000 {
			pair := [2]uint32{r.Uint32N(400), r.Uint32N(maxTokenID)}
			if _, ok := want[pair]; ok {
				continue
			}
			if got := table.rank(pair[0], pair[1]); got != noRank {
				t.Fatalf("of %d: rank(%v) = %d, want none", n, pair, got)
			}
		}
	}
}
