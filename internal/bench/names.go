package bench

// ServedModel is the name a server answers to: the "model" field of a request. It is good for the wire and for
// nothing else: it is never a repository and never a file.
type ServedModel string

// ModelRepo is where weights are published on a model hub, "org/name" or "org/name@revision".
type ModelRepo string

// TokenizerSource says where a tokenizer comes from: a file or directory, a hub repository ("org/name"), the name
// of a built-in tokenizer, or TokenizerFromServer.
type TokenizerSource string

// TokenizerFromServer is the source that asks the server's own tokenize route.
const TokenizerFromServer TokenizerSource = "server"

// Engine is the software that serves the model, as far as it is known.
type Engine string

// The engines whose introspection routes and stream shapes are told apart.
const (
	EngineUnknown  Engine = ""
	EngineSGLang   Engine = "sglang"
	EngineVLLM     Engine = "vllm"
	EngineLMDeploy Engine = "lmdeploy"
	EngineLlamaCpp Engine = "llama.cpp"
)

// API is the protocol in which requests are asked.
type API string

// The protocols spoken. The value is what reports print.
const (
	APICompletions API = "completions" // POST /v1/completions
	APIChat        API = "chat"        // POST /v1/chat/completions
	APIGenerate    API = "generate"    // POST /generate, SGLang's own
	APIResponses   API = "responses"   // POST /v1/responses
	APIEmbeddings  API = "embeddings"  // POST /v1/embeddings
	APIRerank      API = "rerank"      // POST /v1/rerank, vLLM's and Jina's
	APITriton      API = "triton"      // POST /v2/models/ensemble/generate_stream
	APITruss       API = "truss"       // POST /v1/models/model:predict
)

// Pooling reports whether replies carry vectors or scores and no text: they have no output tokens, and no time between them.
func (a API) Pooling() bool { return a == APIEmbeddings || a == APIRerank }

// Dialect is the command-line tool whose flags, draws, labels and keys a run keeps.
type Dialect string

// The dialects. DialectNative is servemark's own (`run`, `demo`).
const (
	DialectNative Dialect = "native"
	DialectSGLang Dialect = "sglang"
	DialectVLLM   Dialect = "vllm"
)
