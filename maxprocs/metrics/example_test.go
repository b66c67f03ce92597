package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"

	"github.com/procfit/procfit/maxprocs/metrics"
)

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.Handle("/metrics/procs", metrics.Handler())

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/metrics/procs", nil))
	line, _, _ := strings.Cut(w.Body.String(), "\n")
	fmt.Println(line)
	// Output: # HELP process_gomaxprocs GOMAXPROCS of the Go runtime.
}

// Read gives what a client library does not have by itself.
func ExampleRead() {
	r := metrics.Read()
	fmt.Println("GOMAXPROCS is the runtime's:", r.Procs == runtime.GOMAXPROCS(0))
	if r.Limit > 0 {
		fmt.Fprintf(os.Stderr, "%s limits it to %g CPUs\n", r.File, r.Limit)
	}
	for _, g := range r.Groups {
		fmt.Fprintf(os.Stderr, "%s was held back for %v\n", g.Dir, g.Throttled)
	}
	// Output: GOMAXPROCS is the runtime's: true
}

func ExampleWrite() {
	var text strings.Builder
	if err := metrics.Write(&text); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(text.String(), "\n# TYPE maxprocs_limits_unknown gauge\n"))
	// Output: true
}
