// Package auto sets GOMAXPROCS as package maxprocs/auto does, with the line that it
// prints, and serves the metrics of package maxprocs/metrics at /metrics/procs of
// [http.DefaultServeMux], as net/http/pprof does for its pages:
//
//	import _ "github.com/procfit/procfit/maxprocs/metrics/auto"
//
// A program that serves another mux mounts [metrics.Handler] there itself, and imports
// maxprocs/auto.
package auto

import (
	"net/http"

	_ "github.com/procfit/procfit/maxprocs/auto"
	"github.com/procfit/procfit/maxprocs/metrics"
)

func init() { http.Handle("/metrics/procs", metrics.Handler()) }
