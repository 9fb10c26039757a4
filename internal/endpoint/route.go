package endpoint

import (
	"encoding/json"
	"strings"

	"github.com/servemark/servemark/internal/bench"
)

// route is one API: where it is asked, how a request is rendered, how a reply is read. A member of the family is one file.
type route struct {
	api  bench.API
	path string
	// named is true where requests carry the model's name, streams where replies always stream, whole where they never do.
	named, streams, whole bool
	encode                func(e *Endpoint, r *bench.Request, extra body) (body, error)
	// read reads one event; nil is OpenAI's and, with native, SGLang's own form, which have a quick reader too.
	read   func(f *frame, top map[string]json.RawMessage, text bool)
	native bool
	// listed is true where a bare JSON list may come in place of the object, for the list that read finds under "results".
	listed bool
	// unmarked is true where nothing but the end of the body marks the end of a reply.
	unmarked bool
}

// routes lists the APIs spoken.
func routes() []route {
	return []route{
		{api: bench.APIChat, path: "/v1/chat/completions", named: true, encode: (*Endpoint).chatBody},
		{api: bench.APICompletions, path: "/v1/completions", named: true, encode: (*Endpoint).completionsBody},
		{api: bench.APIGenerate, path: "/generate", native: true, encode: (*Endpoint).generateBody},
		{api: bench.APIResponses, path: "/v1/responses", named: true, encode: (*Endpoint).responsesBody, read: (*frame).responsesEvent},
		{api: bench.APIEmbeddings, path: "/v1/embeddings", named: true, whole: true, encode: (*Endpoint).embeddingsBody, read: (*frame).embeddingsReply},
		{api: bench.APIRerank, path: "/v1/rerank", named: true, whole: true, listed: true, encode: (*Endpoint).rerankBody, read: (*frame).rerankReply},
		{api: bench.APITriton, path: "/v2/models/ensemble/generate_stream", streams: true, unmarked: true, encode: (*Endpoint).tritonBody, read: (*frame).tritonEvent},
		{api: bench.APITruss, path: "/v1/models/model:predict", named: true, encode: (*Endpoint).completionsBody},
	}
}

func routeOf(api bench.API) (route, bool) {
	for _, r := range routes() {
		if r.api == api {
			return r, true
		}
	}
	return route{}, false
}

// Path returns the usual route of an API, or "" of one that is not spoken.
func Path(api bench.API) string {
	r, _ := routeOf(api)
	return r.path
}

// NeedsName reports whether requests of an API carry the model's name.
func NeedsName(api bench.API) bool {
	r, _ := routeOf(api)
	return r.named
}

// known names the APIs, for messages.
func known() string {
	var names []string
	for _, r := range routes() {
		names = append(names, string(r.api))
	}
	return strings.Join(names, ", ")
}
