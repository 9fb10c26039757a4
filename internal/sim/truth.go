package sim

import "sync"

// truthLog keeps what really happened to the latest requests.
type truthLog struct {
	mu      sync.Mutex
	onClose func(*reply)
}

func newTruthLog() *truthLog { return &truthLog{} }

func (t *truthLog) open(*reply) {}
func (t *truthLog) close(r *reply, _ error) {
	if t.onClose != nil {
		t.onClose(r)
	}
}
