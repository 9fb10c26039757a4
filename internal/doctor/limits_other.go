//go:build !unix

package doctor

// OpenFiles has nothing to do: the system has no limit of open files that a program could raise.
func OpenFiles(int) error { return nil }
