// Package metered is the Meter of a program that a test builds with them.
package metered

import (
	"net/http"

	"github.com/procfit/procfit/maxprocs/live"
)

// Meter counts the requests of the program.
var Meter live.Meter

// Allow lets procfit try values.
func Allow() { live.Allow(&Meter) }

// Server has the Meter count the requests of s.
func Server(s *http.Server) *http.Server {
	s.Handler, s.ConnContext = Meter.Middleware(s.Handler), Meter.ConnContext
	return s
}
