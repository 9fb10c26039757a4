package bench

// LoRA says which adapters requests ask for.
type LoRA struct {
	// Names are the adapters as the server knows them.
	Names []string `json:"names"`
	Mix   LoRAMix  `json:"mix"`
	// Alpha, above 1, is by how much each adapter is asked for more often than the next (LoRASkewed).
	Alpha float64 `json:"alpha,omitempty"`
}

// LoRAMix is how requests are spread over adapters.
type LoRAMix string

// The mixes.
const (
	LoRAUniform    LoRAMix = "uniform"     // drawn for each request, all alike
	LoRARoundRobin LoRAMix = "round-robin" // one after the other
	LoRASkewed     LoRAMix = "skewed"      // drawn with shares that fall geometrically
)
