package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
)

// adapters reads the LoRA mix.
func (s *sglangReader) adapters() {
	names, mix := s.list("lora-name"), s.text("lora-request-distribution")
	alpha := s.number("lora-zipf-alpha")
	if !(alpha > 1) {
		s.wrong("lora-zipf-alpha", fmt.Sprintf("%v is out of range: above 1", alpha), "")
	}
	if mix != "uniform" && len(names) < 2 {
		s.wrong("lora-request-distribution", mix+" needs at least two adapters", "name them with --lora-name A B")
		return
	}
	if len(names) == 0 {
		return
	}
	if s.api == bench.APITriton || s.api == bench.APITruss {
		s.wrong("lora-name", "is refused with --backend "+s.text("backend")+", which has no adapters", "")
		return
	}
	kind := map[string]bench.LoRAMix{"uniform": bench.LoRAUniform, "distinct": bench.LoRARoundRobin, "skewed": bench.LoRASkewed}[mix]
	s.job.spec.LoRA = &bench.LoRA{Names: names, Mix: kind}
	if kind == bench.LoRASkewed {
		s.job.spec.LoRA.Alpha = alpha
	}
}

// profilerFolder is where SGLang writes a trace that it is not told a place for.
const profilerFolder = "/tmp"

// profile reads how the server's profiler is started. The folder is the server's and is named anew for each run.
func (s *sglangReader) profile() {
	if !s.on("profile") {
		return
	}
	p := &profiling{stop: json.RawMessage("{}")}
	dir := s.text("profile-output-dir")
	if dir == "" {
		if dir = s.getenv("SGLANG_TORCH_PROFILER_DIR"); dir == "" {
			dir = profilerFolder
		}
	}
	settings := map[string]any{
		"activities": s.list("profile-activities"), "num_steps": nil, "profile_by_stage": s.on("profile-by-stage"), "profile_stages": nil,
		"output_dir": dir + "/" + strconv.FormatInt(time.Now().Unix(), 10), "profile_prefix": nil,
	}
	if s.typed("profile-stages") {
		settings["profile_stages"] = s.list("profile-stages")
	}
	if s.typed("profile-prefix") {
		settings["profile_prefix"] = s.text("profile-prefix")
	}
	for _, name := range []string{"profile-num-steps", "profile-steps"} { // the second, newer one wins
		if s.typed(name) {
			settings["num_steps"] = s.atLeast(name, 1)
			p.endsItself = true
		}
	}
	if s.on("profile-by-stage") && !p.endsItself {
		settings["num_steps"] = 5 // the original's
		p.endsItself = true
	}
	if s.typed("profile-start-step") {
		settings["start_step"] = s.atLeast("profile-start-step", 0)
	}
	p.urls = s.workers()
	var err error
	if p.start, err = json.Marshal(settings); err != nil {
		s.wrong("profile", err.Error(), "")
	}
	s.job.profile = p
}

// workers lists the servers of a disaggregated deployment whose profiler is meant.
func (s *sglangReader) workers() []string {
	prefill, decode := s.list("profile-prefill-url"), s.list("profile-decode-url")
	switch {
	case len(prefill) > 0 && len(decode) > 0:
		s.wrong("profile-decode-url", "cannot be combined with --profile-prefill-url: prefill and decode workers are profiled one after the other", "choose one")
	case s.on("pd-separated") && len(prefill)+len(decode) == 0:
		s.wrong("pd-separated", "needs the workers to profile", "give --profile-prefill-url or --profile-decode-url")
	case !s.on("pd-separated"):
		if len(prefill)+len(decode) > 0 {
			s.note("the profile URLs are ignored, as in the original: they have no effect without --pd-separated")
		}
		return nil
	}
	var urls []string
	for _, raw := range append(prefill[:len(prefill):len(prefill)], decode...) {
		base, _, _, err := endpoint.NormalizeBase(raw)
		if err != nil {
			s.wrong("profile-prefill-url", err.Error(), "")
			continue
		}
		urls = append(urls, base)
	}
	return urls
}
