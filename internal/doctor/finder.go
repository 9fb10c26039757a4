package doctor

import (
	"fmt"

	"github.com/servemark/servemark/internal/hub"
)

// NewFinder makes a Finder of the hub and the cache that the environment names. say gets a line, which may hold text of the hub's, for each
// download before it starts, for each quarter of a large one, and for a repository that has another name now.
func NewFinder(getenv func(string) string, userAgent string, say func(line string)) *Finder {
	opts := hub.FromEnv(getenv)
	opts.UserAgent = userAgent
	opts.Renamed = func(from hub.Repo, to string) { say(fmt.Sprintf("%s is called %s on the hub now", from.ID, to)) }
	client, fault := hub.New(opts)
	return &Finder{Hub: client, HubFault: fault, Say: say, Progress: quarters(say)}
}

// largeFile is how many bytes a download has whose progress is told.
const largeFile = 4 << 20

// quarters tells of each quarter of a large download.
func quarters(say func(line string)) func(file string, done, total int64) {
	told := map[string]int64{}
	return func(file string, done, total int64) {
		if total < largeFile {
			return
		}
		if quarter := 4 * done / total; quarter > told[file] {
			told[file] = quarter
			say(fmt.Sprintf("%s: %d of %d MB", file, done>>20, total>>20))
		}
	}
}
