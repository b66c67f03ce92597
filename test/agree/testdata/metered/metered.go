// Package metered is the Meter and the Agent of a program that a test builds with them.
package metered

import (
	"log"
	"net/http"
	"os"

	"github.com/procfit/procfit/maxprocs/live"
)

// Meter counts the requests of the program.
var Meter live.Meter

// Control serves the control endpoint on the socket that CONTROL names, if it names one.
func Control() {
	if file := os.Getenv("CONTROL"); file != "" {
		if _, err := live.New(&Meter).Listen(file); err != nil {
			log.Fatal(err)
		}
	}
}

// Server has the Meter count the requests of s.
func Server(s *http.Server) *http.Server {
	s.Handler, s.ConnContext = Meter.Middleware(s.Handler), Meter.ConnContext
	return s
}
