// Package auto sets GOMAXPROCS as package maxprocs/auto does, with the line that it
// prints, and serves the metrics of package maxprocs/metrics at /metrics/procs of
// [http.DefaultServeMux], as net/http/pprof does for its pages:
//
//	import _ "github.com/procfit/procfit/maxprocs/metrics/auto"
//
// A program that serves another mux registers [metrics.Handler] there itself, and imports
// maxprocs/auto. Do not register the path on http.DefaultServeMux again: of the same
// pattern a ServeMux panics.
package auto

import (
	"net/http"
	"net/url"

	_ "github.com/procfit/procfit/maxprocs/auto"
	"github.com/procfit/procfit/maxprocs/metrics"
)

const path = "/metrics/procs"

func init() { http.Handle(pattern(), metrics.Handler()) }

// pattern has the method where ServeMux knows methods: without it, a pattern of the program
// such as "GET /" would be in conflict with this one, and panic. Before Go 1.22, and with
// GODEBUG=httpmuxgo121=1, which is the default of main modules with an older go line, ServeMux
// takes the method for the name of a host.
func pattern() string {
	const get = "GET " + path
	mux := http.NewServeMux()
	mux.Handle(get, http.NotFoundHandler())
	if _, found := mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}}); found == "" {
		return path
	}
	return get
}
