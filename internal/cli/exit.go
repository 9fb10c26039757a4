package cli

// Exit codes. Where several apply the first of exitInterrupted, exitUsage, exitRefused, exitFailed, exitInvalid, exitGoal
// counts.
const (
	exitOK          = 0
	exitFailed      = 1   // nothing succeeded, or more failed than --max-error-rate allows
	exitUsage       = 2   // the command line alone is wrong
	exitGoal        = 3   // a goal was missed
	exitRefused     = 4   // refused before the load by what was found: files, server, names, limits
	exitInvalid     = 5   // the run is INVALID and --require-valid was given
	exitInterrupted = 130 // ended by the user
)

// worse picks the exit code that counts where two apply.
func worse(a, b int) int {
	for _, code := range []int{exitInterrupted, exitUsage, exitRefused, exitFailed, exitInvalid, exitGoal} {
		if a == code || b == code {
			return code
		}
	}
	return exitOK
}

// exitHelp is the table of exit codes in --help.
const exitHelp = `Exit codes:
  0    ok
  1    nothing succeeded, or failed ÷ sent is above --max-error-rate, or the output could not be written whole
  2    the command line is wrong
  3    a goal was missed
  4    refused before the load by what was found (files, server, names, limits)
  5    the run is INVALID and --require-valid was given
  130  interrupted`
