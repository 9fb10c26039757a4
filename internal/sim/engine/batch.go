package engine

import "time"

// batch runs requests together, one step at a time. What a step holds is decided by its flavour.
type batch struct {
	e       *Engine
	busy    bool
	end     time.Duration
	current Step
	waiting []*Seq
	running []*Seq
}

func newBatch(e *Engine) *batch                   { return &batch{e: e} }
func (b *batch) arrive(s *Seq, now time.Duration) { b.waiting = append(b.waiting, s) }
func (b *batch) next() (time.Duration, bool)      { return b.end, b.busy }
func (b *batch) advance(now time.Duration)        {}
func (b *batch) abort(s *Seq)                     {}
