package wire

// Flavour is the server whose routes, field names, frames and words of error are spoken.
type Flavour string

// The flavours a server can take; the zero value means SGLang.
const (
	SGLang   Flavour = "sglang"
	VLLM     Flavour = "vllm"
	LlamaCpp Flavour = "llamacpp"
	LMDeploy Flavour = "lmdeploy"
	TRT      Flavour = "trt"
	TGI      Flavour = "tgi"
	Truss    Flavour = "truss"
)

// Flavours lists every flavour.
var Flavours = []Flavour{SGLang, VLLM, LlamaCpp, LMDeploy, TRT, TGI, Truss}

// Versions that the servers claim, so that clients can be checked on what they print.
const (
	SGLangVersion   = "0.5.23"
	VLLMVersion     = "0.33.0"
	LlamaBuild      = "b11549-servemark"
	TGIVersion      = "3.3.7"
	TRTVersion      = "1.3.0"
	vllmFingerprint = "vllm-0.33.0-servemark"
)

// Manners are the habits of a flavour that a client can trip over: field names, where the finish reason rides, who owns models.
type Manners struct {
	Flavour     Flavour
	OwnedBy     string
	roleDelta   string // delta of the first chunk
	thought     string // member that reasoning comes under
	nullThought string // what stands in content deltas beside the content
	stopMember  string // member beside finish_reason
	finishApart bool   // the finish reason has a chunk of its own, with an empty delta
	silent      bool   // a step without text writes no chat chunk
	roleAlways  bool   // every delta repeats the role
	logprobs    bool   // choices carry logprobs:null
	tokenIDs    bool   // return_token_ids is understood
	rolePad     string // written between the first chunk and its blank line
	fingerprint string // system_fingerprint of every chunk
	usageFinger string // system_fingerprint of the usage chunk alone
	timings     bool   // llama.cpp's own account at the end
	CacheAlways bool   // usage always tells cached tokens
	IDPrefix    bool   // ids begin with chatcmpl- or cmpl-
}

// MannersOf returns the manners of a flavour; an unknown one has SGLang's.
func MannersOf(f Flavour) Manners {
	const role = `"role":"assistant","content":""`
	switch f {
	case VLLM:
		return Manners{Flavour: f, OwnedBy: "vllm", roleDelta: role, thought: "reasoning", stopMember: "stop_reason", logprobs: true, tokenIDs: true,
			usageFinger: vllmFingerprint, IDPrefix: true}
	case LlamaCpp:
		return Manners{Flavour: f, OwnedBy: "llamacpp", roleDelta: `"role":"assistant","content":null`, thought: "reasoning_content", finishApart: true,
			fingerprint: LlamaBuild, timings: true, CacheAlways: true, IDPrefix: true}
	case LMDeploy:
		return Manners{Flavour: f, OwnedBy: "lmdeploy", roleDelta: role, thought: "reasoning_content", finishApart: true, logprobs: true, CacheAlways: true}
	case TRT:
		return Manners{Flavour: f, OwnedBy: "tensorrt_llm", roleDelta: `"role":"assistant"`, thought: "reasoning_content", stopMember: "stop_reason", logprobs: true,
			rolePad: " ", CacheAlways: true, IDPrefix: true}
	case TGI:
		return Manners{Flavour: f, OwnedBy: "sim", roleDelta: role, thought: "reasoning_content", roleAlways: true, logprobs: true, fingerprint: TGIVersion + "-native"}
	case Truss:
		return Manners{Flavour: f, OwnedBy: "truss", roleDelta: role, thought: "reasoning_content", logprobs: true, IDPrefix: true}
	}
	return Manners{Flavour: f, OwnedBy: "sglang", roleDelta: `"reasoning_content":null,` + role, thought: "reasoning_content", nullThought: `"reasoning_content":null,`,
		stopMember: "matched_stop", finishApart: true, silent: true, logprobs: true, tokenIDs: true}
}
