// Servemark benchmarks LLM servers: does it work, and how well does it work?
package main

import (
	"os"

	"github.com/servemark/servemark/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args)) }
