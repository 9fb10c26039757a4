// Package servemark is the root of a program, not a library: see ARCHITECTURE.md for its rooms, and package tokenizer for
// the part that other programs may import.
package servemark
