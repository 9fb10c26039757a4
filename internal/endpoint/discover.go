package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/servemark/servemark/internal/bench"
)

// DiscoverOptions say how to look.
type DiscoverOptions struct {
	// Engine limits the questions to that engine's routes; EngineUnknown asks all.
	Engine bench.Engine
	Auth   Auth
	// Timeout of each question; 0 means 2 s.
	Timeout time.Duration
	// Version is the program's, for the User-Agent header.
	Version string
}

// Routes that are asked. /health is never among them: SGLang generates a token to answer it.
const (
	routeModels     = "/v1/models"
	routeModelInfo  = "/model_info"
	routeServerInfo = "/server_info"
	routeLoads      = "/v1/loads?include=all"
	routeVersion    = "/version"
	routeTGI        = "/info"
	routeProps      = "/props"
	routeOllama     = "/api/version"
	routeMetrics    = "/metrics"
	routeOpenAPI    = "/openapi.json"
	routeNIM        = "/v1/metadata"
	routeLMStudio   = "/api/v1/models"
)

// routesOf lists what an engine is asked.
func routesOf(e bench.Engine) []string {
	switch e {
	case bench.EngineSGLang:
		return []string{routeModels, routeModelInfo, routeServerInfo, routeLoads, routeOpenAPI}
	case bench.EngineVLLM:
		return []string{routeModels, routeVersion, routeMetrics, routeOpenAPI}
	case bench.EngineLlamaCpp:
		return []string{routeModels, routeProps}
	case bench.EngineLMDeploy:
		return []string{routeModels, routeOpenAPI}
	}
	return []string{routeModels, routeModelInfo, routeServerInfo, routeLoads, routeVersion, routeTGI, routeProps, routeOllama, routeMetrics, routeOpenAPI}
}

// Discover asks the server what it is and what it serves, all questions at once. An error means that nothing answered;
// a server that answers but lets nobody in, or is of no known kind, is a Server with Notes.
func Discover(ctx context.Context, client *http.Client, base string, o DiscoverOptions) (bench.Server, error) {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Second
	}
	s := &survey{
		asker: newAsker(client, base, o.Version, o.Auth), o: o, redact: newRedactor(o.Auth),
		answers: map[string]answer{}, objects: map[string]map[string]any{},
		server: bench.Server{BaseURL: base},
	}
	s.ask(ctx, routesOf(o.Engine)...)
	if err := ctx.Err(); err != nil {
		return s.server, fmt.Errorf("asking %s what it serves: %w", base, err)
	}
	if err := s.nobody(); err != nil {
		return s.server, err
	}
	s.models()
	s.identify()
	s.followUp(ctx)
	s.read()
	s.notes()
	return s.server, nil
}

// survey is one discovery.
type survey struct {
	asker
	o       DiscoverOptions
	redact  *redactor
	answers map[string]answer
	objects map[string]map[string]any
	server  bench.Server
	// product is the name of what was recognised, where it is not one of bench's engines.
	product string
}

// ask sends GETs in parallel and waits for all answers.
func (s *survey) ask(ctx context.Context, routes ...string) {
	got := make([]answer, len(routes))
	var wg sync.WaitGroup
	for i, route := range routes {
		wg.Go(func() { got[i] = s.get(ctx, route, s.o.Timeout) })
	}
	wg.Wait()
	for i, route := range routes {
		s.answers[route], s.objects[route] = got[i], got[i].object()
	}
}

// nobody returns an error if no question was answered at all.
func (s *survey) nobody() error {
	for _, a := range s.answers {
		if a.err == nil {
			return nil
		}
	}
	return fmt.Errorf("nothing answers at %s: %s", s.base, s.answers[routeModels].fault())
}

// models reads what is served.
func (s *survey) models() {
	data, _ := s.objects[routeModels]["data"].([]any)
	for _, entry := range data {
		m, _ := entry.(map[string]any)
		id, _ := m["id"].(string)
		if id == "" {
			continue
		}
		card := bench.ModelCard{ID: bench.ServedModel(id), OwnedBy: text(m, "owned_by"), Root: s.redact.text(text(m, "root")), Parent: text(m, "parent"), MaxLen: number(m, "max_model_len")}
		if !card.MaxLen.Known() {
			card.MaxLen = number(m, "context_length") // OpenRouter
		}
		s.server.Models = append(s.server.Models, card)
	}
}

// followUp asks the few questions that depend on what is known so far.
func (s *survey) followUp(ctx context.Context) {
	switch {
	case s.server.Engine == bench.EngineSGLang && s.answers[routeModelInfo].status == http.StatusNotFound:
		s.ask(ctx, "/get_model_info", "/get_server_info") // the names before 2026
		s.objects[routeModelInfo], s.objects[routeServerInfo] = s.objects["/get_model_info"], s.objects["/get_server_info"]
		s.answers[routeModelInfo], s.answers[routeServerInfo] = s.answers["/get_model_info"], s.answers["/get_server_info"]
	case s.o.Engine != bench.EngineUnknown || s.product != "":
	case s.server.Engine == bench.EngineVLLM:
		s.ask(ctx, routeNIM)
		if s.objects[routeNIM] != nil {
			s.product = "NVIDIA NIM over vLLM"
			s.server.EngineFrom = s.answers[routeNIM].route
		}
	case s.server.Engine == bench.EngineUnknown:
		s.ask(ctx, routeNIM, routeLMStudio, "/")
		if s.objects[routeOllama]["version"] != nil && strings.Contains(string(s.answers["/"].body), "Ollama is running") {
			s.recognize(bench.EngineUnknown, "Ollama", `GET / "Ollama is running"`)
		} else if s.objects[routeNIM] != nil {
			s.recognize(bench.EngineUnknown, "NVIDIA NIM", s.answers[routeNIM].route)
		} else if strings.Contains(string(s.answers[routeLMStudio].body), `"loaded_instances"`) {
			s.recognize(bench.EngineUnknown, "LM Studio", s.answers[routeLMStudio].route+" loaded_instances")
		}
	}
}

// notes tells what failed. That a route is not there says nothing where all engines' routes were tried.
func (s *survey) notes() {
	var barred []answer
	var routes []string
	for route := range s.answers {
		routes = append(routes, route)
	}
	slices.Sort(routes)
	for _, route := range routes {
		a := s.answers[route]
		switch {
		case a.barred():
			barred = append(barred, a)
		case route == routeModels && !a.ok():
			s.note("%s: %s", a.route, a.fault())
		case a.err != nil && route != routeOpenAPI && route != routeMetrics && !errors.Is(a.err, context.Canceled):
			s.note("%s: %s", a.route, a.fault())
		}
	}
	s.barred(barred)
	if a := s.answers[routeModels]; a.ok() && len(s.server.Models) == 0 {
		if page := title(a); page != "" {
			s.note("GET %s answers with a web page (%s), not with a list of models: this is not the API of an LLM server; is the port right, and is there a path before /v1?", routeModels, page)
		} else {
			s.note("GET %s lists no model", routeModels)
		}
	}
}

// barred tells of routes that are closed, which are often all: the one that lists the models stands for them.
func (s *survey) barred(list []answer) {
	if len(list) == 0 {
		return
	}
	s.server.Barred = true
	first, more := list[0], ""
	if i := slices.IndexFunc(list, func(a answer) bool { return a.route == "GET "+routeModels }); i >= 0 {
		first = list[i]
	}
	if len(list) > 1 {
		more = " and " + bench.Number(len(list)-1, "other route")
	}
	s.note("%s%s: %s", first.route, more, first.fault())
	if s.o.Auth.Present() {
		s.note("the server does not accept the key that is sent (%s)", s.o.Auth)
		return
	}
	s.note("the server wants a key; set OPENAI_API_KEY (sent as OpenAI's own clients do) or API_KEY (sent as it is)")
}

// title returns what a web page calls itself, "untitled" where it does not, or "" for an answer that is no page.
func title(a answer) string {
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	if kind != "text/html" {
		return ""
	}
	if name := pageTitle(a.body); name != "" {
		return name
	}
	return "untitled"
}

func (s *survey) note(format string, args ...any) {
	s.server.Notes = append(s.server.Notes, s.redact.text(fmt.Sprintf(format, args...)))
}

// text returns the string at a path of members, or "".
func text(o map[string]any, path ...string) string {
	v, _ := at(o, path...).(string)
	return v
}

// number returns the whole number at a path of members, or Unknown.
func number(o map[string]any, path ...string) bench.Count {
	n, ok := at(o, path...).(json.Number)
	if !ok {
		return bench.Unknown
	}
	return count(json.RawMessage(n))
}

// at returns what stands at a path of members, or nil.
func at(o map[string]any, path ...string) any {
	for i, name := range path {
		v := o[name]
		if i == len(path)-1 {
			return v
		}
		o, _ = v.(map[string]any)
	}
	return nil
}
