package dataset

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for 0 to n−1 from as many goroutines as there are processors, waits for all and returns the error of the
// lowest index that failed.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = f(i)
			}
		})
	}
	wg.Wait()
	return firstError(errs)
}
