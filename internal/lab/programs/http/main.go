// An HTTP client and server in one process, in the place of document 002's http:
// requests over loopback from several clients at once, each as small as can be,
// so that the time is that of net/http, of the network and of scheduling.
package http

import (
	"runtime"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Program(b *harness.Batch) func() error {
	n := b.Int("n", 20000, 1, "`requests` in all (the article leaves it to its driver)")
	perP := b.Int("clients", 4, 1, "at once for each P (the article does not say; its program has four)")
	return func() error {
		clients := *perP * runtime.GOMAXPROCS(0)
		fetch, stop, err := harness.Loopback(clients, "Hello world.\n", func() {})
		if err != nil {
			return err
		}
		defer stop()
		elapsed, err := harness.Take(clients, *n, func(int) error { return fetch() })
		if err == nil {
			b.Result("BenchmarkHTTP %d %.0f ns/op", *n, float64(elapsed.Nanoseconds())/float64(*n))
		}
		return err
	}
}
