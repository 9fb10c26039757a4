package bench

// Fact is one thing the server said of itself, and where.
type Fact struct {
	Name string `json:"name"`
	// Value has secrets redacted and is at most a few hundred bytes; control characters are still in it.
	Value string `json:"value"`
	// From is the route and key ("GET /v1/models data[0].root").
	From string `json:"from"`
}

// ModelCard is one entry of what a server says it serves.
type ModelCard struct {
	ID      ServedModel `json:"id"`
	OwnedBy string      `json:"owned_by,omitempty"`
	// Root is what vLLM-like servers say the weights are: a repository or a path.
	Root string `json:"root,omitempty"`
	// Parent names the base model of a LoRA adapter.
	Parent string `json:"parent,omitempty"`
	MaxLen Count  `json:"max_len,omitzero"`
}

// Server is what introspection found out.
type Server struct {
	BaseURL string `json:"base_url"`
	Engine  Engine `json:"engine"`
	// EngineFrom says which answer gave the engine away.
	EngineFrom string      `json:"engine_from,omitempty"`
	Version    string      `json:"version,omitempty"`
	Models     []ModelCard `json:"models,omitempty"`
	// TokenizerPath, ModelPath and ModelID are declared by SGLang, SGLang or llama.cpp, and TGI-like servers.
	TokenizerPath string `json:"tokenizer_path,omitempty"`
	ModelPath     string `json:"model_path,omitempty"`
	ModelID       string `json:"model_id,omitempty"`
	// Tokenize is true where a tokenize route is known to exist.
	Tokenize bool `json:"tokenize,omitempty"`
	// MaxLen is the longest context a request may have.
	MaxLen Count `json:"max_len,omitzero"`
	// Facts is all of it in printing order; Notes are probes that failed and why.
	Facts []Fact   `json:"facts,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Barred is true where routes are closed to the key that was sent, or to none.
	Barred bool `json:"barred,omitempty"`
	// Info is the engine's whole self-description with secrets redacted, or nil.
	Info map[string]any `json:"info,omitempty"`
}
