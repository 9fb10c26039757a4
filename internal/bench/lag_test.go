package bench

import (
	"encoding/json"
	"testing"
	"time"
	"unsafe"
)

func TestLagKeepsAnEighth(t *testing.T) {
	last := Lag(0)
	for us := int64(0); us < maxLagMicros; us += 1 + us/97 {
		d := time.Duration(us) * time.Microsecond
		l := LagOf(d)
		got, known := l.Get()
		if !known || got > d || d-got > d/8 || l < last || LagOf(got) != l {
			t.Fatalf("LagOf(%v) = %d which is %v, known %v (the one before: %d); want within an eighth below, monotonic, stable", d, l, got, known, last)
		}
		last = l
	}
	if l := LagOf(1 << 62); l != 255 {
		t.Errorf("LagOf(a century) = %d, want the largest", l)
	}
	if d, known := LagOf(-5).Get(); d != 0 || !known {
		t.Errorf("LagOf(-5ns) = %v, %v; want 0, known", d, known)
	}
	if d, known := Lag(0).Get(); known {
		t.Errorf("Lag(0) = %v, want unknown", d)
	}
}

func TestChunkArrays(t *testing.T) {
	if n := unsafe.Sizeof(Chunk{}); n != 16 {
		t.Errorf("a Chunk takes %d bytes, want 16", n)
	}
	for in, want := range map[string]Chunk{
		"[50,2,1,300]":       {At: 50, Tokens: 2, Channel: 1, Bytes: 300},
		"[50,2,1,300,12]":    {At: 50, Tokens: 2, Channel: 1, Bytes: 300, Lag: LagOf(12 * time.Microsecond)},
		"[50,0,0,1,0]":       {At: 50, Bytes: 1, Lag: LagOf(0)},
		"[-7,0,0,1,1600000]": {At: -7, Bytes: 1, Lag: LagOf(1600 * time.Millisecond)},
	} {
		var got Chunk
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("Unmarshal(%s) = %+v, %v; want %+v", in, got, err, want)
		}
		b, err := json.Marshal(want)
		var again Chunk
		if err != nil || json.Unmarshal(b, &again) != nil || again != want {
			t.Errorf("Marshal(%+v) = %s, %v, which reads back as %+v", want, b, err, again)
		}
	}
}
