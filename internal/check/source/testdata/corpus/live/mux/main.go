// A mux that everybody reaches.
package main

import (
	"net/http"

	"github.com/procfit/procfit/maxprocs/live"
)

func main() {
	var meter live.Meter
	agent := live.New(&meter)
	mux := http.NewServeMux()
	mux.Handle("/internal/procfit/", agent) // want PF044 warning: mux.Handle mounts the Agent of maxprocs/live, which asks for no login, on a server that listens on :8080, on all interfaces → call its Listen, with a unix socket, instead
	mux.HandleFunc("/other", func(http.ResponseWriter, *http.Request) {})
	http.ListenAndServe(":8080", meter.Middleware(mux))
}
