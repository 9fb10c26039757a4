package cli

import (
	"crypto/x509"
	"net/url"
	"time"

	"github.com/servemark/servemark/internal/bench"
	"github.com/servemark/servemark/internal/endpoint"
	"github.com/servemark/servemark/internal/report"
	"github.com/servemark/servemark/internal/stats"
)

// listening is whether and where the server's own numbers are sampled during the load; the zero value is nowhere.
type listening struct {
	on bool
	// serverOff leaves the server's own pages alone.
	serverOff bool
	// metrics and gpus are whole addresses of pages, "" for the server's own and for none.
	metrics, gpus string
}

// job is one benchmark as the command line asked for it: the Spec, what must not be in it (secrets), and what concerns
// this process only (files, screen).
type job struct {
	spec bench.Spec
	auth endpoint.Auth
	// user is what stood in the address before the @; it may be a secret.
	user *url.Userinfo
	// roots are the certificates of --ca-cert beside the system's; nil without it.
	roots *x509.CertPool
	// notes are said before anything else: what was read in a way the user may not expect.
	notes []string

	output       string // the result line's file; "" for none
	details      bool   // per-request arrays in the result line
	journal      string // "-" for none
	progress     bool
	requireValid bool
	listening    listening
	// runs repeats the run with prompts of its own each time; 0 and 1 are one run.
	runs         int
	flush        bool
	flushTimeout time.Duration
	// dryRun prints the plan and sends nothing.
	dryRun bool
	// printRequests prints a line for each request that is done, plot a picture of the output rate after the run.
	printRequests, plot bool
	// noTokenizer leaves the tokenizer out: nothing is tokenized here.
	noTokenizer bool
	// noCounting leaves answers uncounted by the tokenizer.
	noCounting bool
	// profile starts the server's profiler for the run; nil for not.
	profile *profiling
	// vllm says where vLLM's dialect saves its result; nil in the others.
	vllm *vllmOutput
	// native prints servemark's own report around the block, and refuses requests longer than the server's context.
	native bool
	// form is how the spread of several runs is printed.
	form report.Form
	// outlook ends the load early where it is hopeless; nil lets it go to its end.
	outlook *stats.Outlook
	// forgiving lets missed goals exit with 0 (demo shows goals).
	forgiving bool
}
