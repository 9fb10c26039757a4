package stats

import (
	"strings"
	"testing"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// calm is a run of n good requests, one every 10 ms, each taking 60 ms, as the schedule wants.
func calm(n int) (*bench.Plan, []bench.Record) {
	p := planOf(n, 4)
	p.Spec.Load.Rate, p.Spec.Dataset.Name = 100, "random"
	var records []bench.Record
	for i := range n {
		p.Requests[i].Due = bench.Instant(i) * 10 * msec
		r := success(i, p.Requests[i].Due, 4, 30, 40, 50, 60)
		r.Due, r.Usage.Prompt, r.Usage.Cached = p.Requests[i].Due, bench.Counted(16), bench.Counted(3)
		r.Retokenized = bench.Counted(4)
		records = append(records, r)
	}
	return p, records
}

// delay moves everything after admission by d.
func delay(r *bench.Record, d time.Duration) {
	r.Sent, r.Written, r.Header, r.Done = r.Sent.Add(d), r.Written.Add(d), r.Header.Add(d), r.Done.Add(d)
	for i := range r.Chunks {
		r.Chunks[i].At = r.Chunks[i].At.Add(d)
	}
}

func TestVerdict(t *testing.T) {
	each := func(f func(i int, r *bench.Record)) func(*bench.Plan, []bench.Record) {
		return func(_ *bench.Plan, records []bench.Record) {
			for i := range records {
				f(i, &records[i])
			}
		}
	}
	for _, row := range []struct {
		name   string
		n      int
		change func(p *bench.Plan, records []bench.Record)
		level  bench.VerdictLevel
		cause  string
	}{
		{"calm", 100, each(func(int, *bench.Record) {}), bench.Valid, ""},
		{"one request", 1, each(func(int, *bench.Record) {}), bench.Valid, ""},
		{"a tokenizer that is not the server's", 100, func(p *bench.Plan, _ []bench.Record) { p.Spec.Model.TokenizerDiffers = "on \"x\"" }, bench.Suspect, "not the server's: on"},
		{"late by 1 ms", 100, each(func(_ int, r *bench.Record) { delay(r, time.Millisecond) }), bench.Valid, ""},
		{"late by 3 ms", 100, each(func(_ int, r *bench.Record) { delay(r, 3*time.Millisecond) }), bench.Suspect, "client late"},
		{"late by 11 ms", 100, each(func(_ int, r *bench.Record) { delay(r, 11*time.Millisecond) }), bench.Invalid, "client late"},
		{"one of a few late by 9 ms", 8, each(func(i int, r *bench.Record) {
			if i == 3 {
				delay(r, 9*time.Millisecond)
			}
		}), bench.Valid, ""},
		{"late by connecting", 100, each(func(_ int, r *bench.Record) {
			r.Connection.DialStart, r.Connection.Connected = r.Admitted, r.Admitted.Add(30*time.Millisecond)
			delay(r, 30*time.Millisecond)
		}), bench.Valid, ""},
		{"late by a refused field", 100, each(func(_ int, r *bench.Record) { delay(r, 40*time.Millisecond); r.Resent = true }), bench.Valid, ""},
		{"admitted late without a cap", 100, each(func(_ int, r *bench.Record) {
			r.Admitted = r.Admitted.Add(3 * time.Millisecond)
			delay(r, 3*time.Millisecond)
		}), bench.Suspect, "client late"},
		{"3 % slower than the schedule", 100, each(func(i int, r *bench.Record) { delay(r, time.Duration(i)*300*time.Microsecond) }),
			bench.Invalid, "schedule missed"},
		{"2 % slower, slow server", 100, each(func(i int, r *bench.Record) {
			delay(r, time.Duration(i)*200*time.Microsecond)
			r.Chunks = nil
			for _, ms := range []bench.Instant{900, 1000, 1100, 1200} {
				r.Chunks = append(r.Chunks, bench.Chunk{At: r.Sent + ms*msec})
			}
			r.Done = r.LastChunk()
		}), bench.Suspect, "schedule missed"},
		{"prompts ran out", 100, func(p *bench.Plan, records []bench.Record) {
			p.Spec.Load.Duration = records[len(records)-1].Admitted.Sub(0) * 2
		}, bench.Suspect, "too few prompts: all 100"},
		{"time was up", 100, func(p *bench.Plan, records []bench.Record) {
			p.Spec.Load.Duration = records[len(records)-1].Admitted.Sub(0) * 2
			p.Requests = append(p.Requests, bench.Request{ID: 100, Due: bench.At(p.Spec.Load.Duration + 1)})
		}, bench.Valid, ""},
		{"some failed", 100, each(func(i int, r *bench.Record) {
			if i < 5 {
				r.Chunks = nil
				r.Fail(bench.FailStatus, "busy")
			}
		}), bench.Suspect, "errors: 5 of 100"},
		{"failures within the limit", 100, each(func(i int, r *bench.Record) {
			if i < 1 {
				r.Chunks = nil
				r.Fail(bench.FailStatus, "busy")
			}
		}), bench.Valid, ""},
		{"most failed", 100, each(func(i int, r *bench.Record) {
			if i < 60 {
				r.Chunks = nil
				r.Fail(bench.FailStatus, "busy")
			}
		}), bench.Invalid, "errors: 60 of 100"},
		{"one stream broke", 100, each(func(i int, r *bench.Record) {
			if i == 7 {
				r.Fail(bench.FailReset, "reset")
			}
		}), bench.Suspect, "errors in streams: 1 "},
		{"malformed", 100, each(func(i int, r *bench.Record) {
			if i == 7 {
				r.Malformed = 2
			}
		}), bench.Suspect, "malformed events: 2 "},
		{"warm cache", 100, func(p *bench.Plan, records []bench.Record) {
			for i := range records {
				p.Requests[i].InputTokens = bench.Counted(240) // and 16 of a template
				r := &records[i]
				r.Usage.Prompt, r.Usage.Cached = bench.Counted(256), bench.Counted(16)
				if i < 10 {
					r.Usage.Cached = bench.Counted(256)
				}
			}
		}, bench.Suspect, "warm prefix cache: 10 of 100 random prompts were partly cached, 2400 of 25600"},
		{"long template cached", 100, func(p *bench.Plan, records []bench.Record) {
			p.Spec.Target.API = bench.APIChat
			for i := range records {
				p.Requests[i].InputTokens = bench.Counted(30)
				records[i].Usage.Prompt, records[i].Usage.Cached = bench.Counted(60), bench.Counted(30)
			}
		}, bench.Valid, ""},
		{"template cached", 100, each(func(_ int, r *bench.Record) { r.Usage.Cached = bench.Counted(16) }), bench.Valid, ""},
		{"cache where prompts repeat", 100, func(p *bench.Plan, records []bench.Record) {
			p.Spec.Dataset.Name = "sharegpt"
			for i := range records {
				records[i].Usage.Prompt, records[i].Usage.Cached = bench.Counted(256), bench.Counted(256)
			}
		}, bench.Valid, ""},
		{"other tokenizer on input", 100, func(p *bench.Plan, records []bench.Record) {
			p.Spec.Target.API = bench.APICompletions
			for i := range records {
				p.Requests[i].InputTokens, records[i].Usage.Prompt = bench.Counted(200), bench.Counted(240)
			}
		}, bench.Suspect, "the server counted 24000 prompt tokens where the tokenizer counted 20000"},
		{"special tokens on input", 100, func(p *bench.Plan, records []bench.Record) {
			p.Spec.Target.API = bench.APICompletions
			for i := range records {
				p.Requests[i].InputTokens, records[i].Usage.Prompt = bench.Counted(200), bench.Counted(202)
			}
		}, bench.Valid, ""},
		{"a chat template on input", 100, func(p *bench.Plan, records []bench.Record) {
			for i := range records {
				p.Requests[i].InputTokens, records[i].Usage.Prompt = bench.Counted(200), bench.Counted(260)
			}
		}, bench.Valid, ""},
		{"a known chat template that does not fit", 100, func(p *bench.Plan, records []bench.Record) {
			for i := range records {
				p.Requests[i].InputTokens, records[i].Usage.Prompt = bench.Counted(200), bench.Counted(260)
				p.Requests[i].TemplatedTokens = bench.Counted(210)
			}
		}, bench.Suspect, "token counts disagree"},
		{"prompt cut by the server", 100, func(p *bench.Plan, records []bench.Record) {
			for i := range records {
				p.Requests[i].InputTokens, records[i].Usage.Prompt = bench.Counted(200), bench.Counted(100)
			}
		}, bench.Suspect, "token counts disagree"},
		{"other tokenizer on output", 100, func(p *bench.Plan, records []bench.Record) {
			for i := range records {
				p.Requests[i].OutputTokens, records[i].Usage.Completion, records[i].Retokenized = 100, bench.Counted(100), bench.Counted(70)
			}
		}, bench.Suspect, "the server counted 10000 output tokens where the tokenizer counted 7000"},
		{"tool calls are not text", 100, func(p *bench.Plan, records []bench.Record) {
			for i := range records {
				p.Requests[i].OutputTokens, records[i].Usage.Completion, records[i].Retokenized = 100, bench.Counted(100), bench.Counted(10)
				records[i].Chunks[1].Channel = bench.ChannelTool
			}
		}, bench.Valid, ""},
		{"limit ignored", 100, each(func(i int, r *bench.Record) {
			if i == 0 {
				r.Usage.Completion = bench.Counted(5)
			}
		}), bench.Suspect, "1 of 100 answers has more tokens than were asked"},
		{"time runs backwards", 100, each(func(i int, r *bench.Record) {
			if i == 0 {
				r.Chunks[2].At = r.Chunks[1].At - 2*msec
			}
		}), bench.Invalid, "clock: 1 record with"},
	} {
		p, records := calm(row.n)
		row.change(p, records)
		v := Summarize(p, records, Options{}).Verdict
		if v.Level != row.level || (row.cause == "") != (len(v.Causes) == 0) || !strings.Contains(strings.Join(v.Causes, "\n"), row.cause) {
			t.Errorf("%s: verdict = %s %q, want %s with %q", row.name, v.Level, v.Causes, row.level, row.cause)
		}
	}
}

// Fewer requests of the same kind never judge worse.
func TestSmallSamplesStayValid(t *testing.T) {
	for n := 1; n <= 40; n++ {
		p, records := calm(n)
		if v := Summarize(p, records, Options{}).Verdict; v.Level != bench.Valid {
			t.Errorf("%d calm requests: verdict = %+v, want VALID", n, v)
		}
	}
}

func TestWording(t *testing.T) {
	for _, row := range []struct {
		a, b string
		same bool
	}{
		{"request 17 failed", "request 4 failed", true},
		{"dial tcp 127.0.0.1:9999: refused", "dial tcp 10.0.3.255:80: refused", true},
		{"dial tcp [::1]:9999: refused", "dial tcp [::1]:8000: refused", true},
		{"id chatcmpl-9f8a7b-dead gone", "id chatcmpl-1c2d3e gone", true},
		{"read 127.0.0.1:1->127.0.0.1:2: reset", "read 127.0.0.1:5->127.0.0.1:6: reset", true},
		{"uuid 550e8400-e29b-41d4-a716-446655440000", "uuid 123e4567-e89b-12d3-a456-426614174000", true},
		{"out of memory", "out of time", false},
		{"queue full (429)", "queue full (429", false},
		{"", "1", false},
	} {
		if a, b := wording(row.a), wording(row.b); (a == b) != row.same {
			t.Errorf("wording(%q) = %q, wording(%q) = %q, want same: %v", row.a, a, row.b, b, row.same)
		}
	}
}
