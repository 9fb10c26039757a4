// Package doctor decides, before the first request of a load, whether the run can be believed: which name goes on the wire,
// where a tokenizer comes from, whether this machine may open enough files, and whether the smoke test's answer makes
// sense. It sends no load and prints nothing; what it found comes back in words.
package doctor
