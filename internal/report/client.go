package report

import (
	"fmt"
	"strconv"

	"github.com/servemark/servemark/internal/bench"
)

// client prints what concerns this client alone: how late it sent and read, and what it had to work with.
func (t *table) client(s *bench.Summary) {
	t.title("This Client", "-")
	t.millis("Lateness, median (ms):", percentile(&s.Lateness, 50))
	t.millis("Lateness, p99 (ms):", percentile(&s.Lateness, 99))
	t.millis("Lateness, max (ms):", high(&s.Lateness))
	t.millis("Receive Lag, median (ms):", percentile(&s.Lag, 50))
	t.millis("Receive Lag, p99 (ms):", percentile(&s.Lag, 99))
	t.millis("Receive Lag, p99.9 (ms):", percentile(&s.Lag, 99.9))
	t.percent("Events merged by reading late (%):", s.SharedStamps, 3)
	t.int("New connections:", s.Connect.N)
	t.millis("Connect, median (ms):", percentile(&s.Connect, 50))
	t.millis("Connect, max (ms):", high(&s.Connect))
	if s.Health != nil {
		t.health(s.Health)
	}
}

// health prints what the load engine knew of itself.
func (t *table) health(h *bench.Health) {
	t.row("Reads with the kernel's time:", stamps(h))
	if h.ClockError > 0 {
		t.row("Clock error (µs):", micros(h.ClockError.Seconds()))
	}
	if h.ClockSteps > 0 {
		t.int("Steps of the wall clock:", h.ClockSteps)
	}
	if h.BacklogSamples > 0 {
		t.row("Sockets with unread bytes:", fmt.Sprintf("%.2f %% of %s, at most %s",
			100*float64(h.BacklogWaiting)/float64(h.BacklogSamples), bench.Number(int(h.BacklogSamples), "sample"), bench.Number(int(h.BacklogMax), "byte")))
	}
	if h.Wall > 0 {
		cpu := fmt.Sprintf("%.2f s in %.2f s, %.0f %% of %s", h.CPU.Seconds(), h.Wall.Seconds(),
			100*h.CPU.Seconds()/h.Wall.Seconds()/float64(max(h.Cores, 1)), cores(h.Cores))
		t.row("Processor time:", cpu)
		if h.CPUWait > 0 {
			t.row("Waiting for a processor:", fmt.Sprintf("%.2f s, all threads", h.CPUWait.Seconds()))
		}
	}
	t.row("Garbage collections:", fmt.Sprintf("%d, pauses %s ms in all", h.GCCycles, decimals(bench.Measured(h.GCPause.Seconds()), 1000)))
	if h.PeakRSS > 0 {
		t.row("Peak memory (MB):", strconv.FormatFloat(float64(h.PeakRSS)/1e6, 'f', 1, 64))
	}
}

// stamps says how many of the reads have the kernel's receive time, and why the others have not.
func stamps(h *bench.Health) string {
	share, ok := h.KernelShare().Get()
	if !ok {
		return unmeasured
	}
	words := fmt.Sprintf("%.2f %% of %d (%s)", 100*share, h.KernelReads+h.UserReads, h.Engine)
	if h.KernelReads == 0 {
		return words + "; receive lag is not measured here"
	}
	if h.Unstamped > 0 {
		words += fmt.Sprintf("; %d had none", h.Unstamped)
	}
	if h.Implausible > 0 {
		words += fmt.Sprintf("; %d were not believed", h.Implausible)
	}
	return words
}

func cores(n int) string {
	if n == 1 {
		return "one core"
	}
	return fmt.Sprintf("%d cores", n)
}

func micros(seconds float64) string { return strconv.FormatFloat(seconds*1e6, 'f', 2, 64) }

// percent prints a share (0..1) in percent.
func (t *table) percent(label string, m bench.Measure, digits int) {
	x, ok := m.Get()
	if !ok {
		t.row(label, unmeasured)
		return
	}
	t.row(label, strconv.FormatFloat(100*x, 'f', digits, 64))
}

// putClient puts the same figures for programs.
func putClient(o *object, s *bench.Summary) {
	o.put("median_receive_lag_ms", scaled(percentile(&s.Lag, 50)))
	o.put("p99_receive_lag_ms", scaled(percentile(&s.Lag, 99)))
	o.put("p99_9_receive_lag_ms", scaled(percentile(&s.Lag, 99.9)))
	o.put("shared_stamps", s.SharedStamps)
	if s.Health != nil {
		o.put("client", s.Health)
	} else {
		o.put("client", nil)
	}
}
