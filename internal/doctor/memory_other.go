//go:build !linux

package doctor

// FreeMemory is how many bytes this process can still take; it is not known on this system.
func FreeMemory() (bytes float64, ok bool) { return 0, false }
