// Package cli is the front door: a file for each command, the flag dialects, exit codes and live progress. It is the only
// place where rooms are wired together, and the only one that prints.
package cli
