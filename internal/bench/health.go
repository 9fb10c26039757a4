package bench

import "time"

// Health is what the load engine knows of itself after a run: the evidence that the figures are the server's and not this
// client's. Receive lag is not in it: each Chunk has its own. Counts are of this run; what could not be measured on this
// system is absent in JSON and its zero value here.
type Health struct {
	// Engine names how requests travelled: "net/http", or "net/http, HTTP/2".
	Engine string `json:"engine"`
	// KernelReads are reads whose bytes have the kernel's receive stamp, UserReads those that have the time right after the read.
	KernelReads int64 `json:"kernel_reads"`
	UserReads   int64 `json:"user_reads"`
	// Unstamped and Implausible are why reads of connections that the kernel stamps are among UserReads: it gave none, or the
	// stamp lay after the read or before that of the bytes ahead of it (the clock was stepped).
	Unstamped   int64 `json:"unstamped,omitempty"`
	Implausible int64 `json:"implausible,omitempty"`
	// ClockError bounds the error of converting the kernel's stamps, which count on the wall clock, to the run's clock.
	ClockError time.Duration `json:"clock_error_ns,omitempty"`
	// ClockSteps counts jumps of the wall clock during the run.
	ClockSteps int `json:"clock_steps,omitempty"`
	// BacklogSamples are looks at connections with a reply under way, BacklogWaiting those that found unread bytes, and
	// BacklogMax the most bytes one of them had.
	BacklogSamples int64 `json:"backlog_samples,omitempty"`
	BacklogWaiting int64 `json:"backlog_waiting,omitempty"`
	BacklogMax     int64 `json:"backlog_max_bytes,omitempty"`
	// Wall is how long the run took, CPU the processor time of the whole process in it, CPUWait how long its threads were ready
	// and had no processor (0 where the system does not say), Cores how many threads may run Go code at once.
	Wall    time.Duration `json:"wall_ns"`
	CPU     time.Duration `json:"cpu_ns"`
	CPUWait time.Duration `json:"cpu_wait_ns,omitempty"`
	Cores   int           `json:"cores"`
	// GCCycles and GCPause are the garbage collections and the sum of their pauses; Mallocs the objects allocated.
	GCCycles int           `json:"gc_cycles"`
	GCPause  time.Duration `json:"gc_pause_ns"`
	Mallocs  int64         `json:"mallocs"`
	// PeakRSS is the most memory the process has had resident since its start, in bytes.
	PeakRSS int64 `json:"peak_rss_bytes,omitempty"`
}

// KernelShare is the share of reads (0..1) with the kernel's stamp; not measured where nothing was read.
func (h *Health) KernelShare() Measure {
	if h.KernelReads+h.UserReads == 0 {
		return Measure{}
	}
	return Measured(float64(h.KernelReads) / float64(h.KernelReads+h.UserReads))
}
