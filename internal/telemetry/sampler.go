// Package telemetry listens to what a server and its GPUs say of themselves during a run (Prometheus pages, SGLang's /v1/loads,
// a dcgm-exporter), and says in words what that means beside the run's own numbers.
package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// Options say where to listen.
type Options struct {
	// BaseURL is the server's; its /metrics is read, else its /v1/loads. Metrics, where it is not "", is the whole address of a page
	// to read instead. With neither only GPUs are listened to.
	BaseURL, Metrics string
	// GPUs is the whole address of a dcgm-exporter's page, "" for none.
	GPUs string
	// Apply puts the API key and extra headers on requests to the server; nil for none.
	Apply  func(http.Header)
	Client *http.Client
	// Every is the time between scrapes; 0 is a second, which is also the least.
	Every time.Duration
}

// Limits of one scrape.
const (
	scrapeTimeout = 5 * time.Second
	scrapeBytes   = 8 << 20
)

// Sampler reads gauges about once a second. One scrape is under way at a time: a slow server is not asked again meanwhile.
type Sampler struct {
	o     Options
	page  func(context.Context) (reading, error)
	log   bench.Telemetry
	start time.Time
	stop  context.CancelFunc
	done  chan struct{}
}

// Open finds out what there is to listen to and takes the counters before the load. ok is false where there is nothing; server and
// gpus say why the server's page and that of its GPUs cannot be read.
func Open(ctx context.Context, o Options) (s *Sampler, server, gpus error, ok bool) {
	if o.Every < time.Second {
		o.Every = time.Second
	}
	s = &Sampler{o: o}
	pages := []func(context.Context) (reading, error){s.metrics, s.loads}
	switch {
	case o.Metrics != "":
		pages = pages[:1]
	case o.BaseURL == "":
		pages = nil
	}
	for _, page := range pages {
		r, err := page(ctx)
		if err != nil {
			server = cmp.Or(server, err)
			continue
		}
		server = nil
		s.page, s.log.Source, s.log.Before = page, r.source, r.counters
		break
	}
	if o.GPUs != "" {
		var joules bench.Measure
		if _, joules, gpus = s.gpus(ctx); gpus == nil {
			s.log.GPUSource, s.log.Before.Energy = o.GPUs, joules
		}
	}
	return s, server, gpus, s.page != nil || s.log.GPUSource != ""
}

// Start samples until Stop. start is when the run's clock read 0.
func (s *Sampler) Start(ctx context.Context, start time.Time) {
	s.start = start
	ctx, s.stop = context.WithCancel(ctx)
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		tick := time.NewTicker(s.o.Every)
		defer tick.Stop()
		for {
			if _, ok := s.scrape(ctx); !ok && ctx.Err() == nil {
				s.log.Failed++
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
}

// Stop ends the sampling, takes the counters after the load and returns all of it.
func (s *Sampler) Stop(ctx context.Context) *bench.Telemetry {
	if s.stop != nil {
		s.stop()
		<-s.done
	}
	if after, ok := s.scrape(ctx); ok {
		s.log.After = after
	} else {
		s.log.Failed++
	}
	return &s.log
}

// scrape takes one sample; ok is false where the server's page could not be read.
func (s *Sampler) scrape(ctx context.Context) (c bench.Counters, ok bool) {
	began := time.Now()
	g := bench.Gauges{At: bench.Never}
	ok = true
	if s.page != nil {
		r, err := s.page(ctx)
		if ok = err == nil; ok {
			c, g = r.counters, r.gauges
		}
	}
	if s.log.GPUSource != "" {
		if power, joules, err := s.gpus(ctx); err == nil {
			g.Power, c.Energy = power, joules
		}
	}
	if ctx.Err() != nil && !ok {
		return c, false
	}
	s.log.Slowest = max(s.log.Slowest, time.Since(began))
	if ok {
		g.At = bench.At(began.Sub(s.start))
		s.log.Samples = append(s.log.Samples, g)
	}
	return c, ok
}

func (s *Sampler) metrics(ctx context.Context) (reading, error) {
	url := s.o.Metrics
	if url == "" {
		url = s.o.BaseURL + "/metrics"
	}
	body, err := s.get(ctx, url, s.o.Metrics == "")
	if err != nil {
		return reading{}, err
	}
	r, ok := read(string(body))
	if !ok {
		return r, fmt.Errorf("GET %s has no metrics of SGLang, vLLM, TensorRT-LLM, LMDeploy or llama.cpp", url)
	}
	return r, nil
}

func (s *Sampler) loads(ctx context.Context) (reading, error) {
	body, err := s.get(ctx, s.o.BaseURL+"/v1/loads", true)
	if err != nil {
		return reading{}, err
	}
	r, ok := readLoads(body)
	if !ok {
		return r, fmt.Errorf("GET /v1/loads is not SGLang's")
	}
	return r, nil
}

func (s *Sampler) gpus(ctx context.Context) (power, joules bench.Measure, err error) {
	body, err := s.get(ctx, s.o.GPUs, false)
	if err != nil {
		return power, joules, err
	}
	power, joules = readGPUs(string(body))
	if !power.Known() && !joules.Known() {
		return power, joules, fmt.Errorf("GET %s states neither DCGM_FI_DEV_POWER_USAGE nor DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", s.o.GPUs)
	}
	return power, joules, nil
}

// get reads a page; only the server's own gets the user's headers.
func (s *Sampler) get(ctx context.Context, url string, own bool) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if own && s.o.Apply != nil {
		s.o.Apply(req.Header)
	}
	res, err := s.o.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, scrapeBytes))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d", url, res.StatusCode)
	}
	return body, err
}
