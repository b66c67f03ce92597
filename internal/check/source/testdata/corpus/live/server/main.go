// A server as a literal, its mux behind the Meter, and listeners of its own.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/procfit/procfit/maxprocs/live"
)

var port = os.Getenv("PORT")

func literal(agent *live.Agent, meter *live.Meter) {
	mux := http.NewServeMux()
	mux.Handle("/internal/", http.StripPrefix("/internal", agent)) // want PF044 warning: listens on ":" + port
	srv := &http.Server{Addr: ":" + port, Handler: meter.Middleware(mux)}
	srv.ListenAndServe()
}

func listener(agent *live.Agent, meter *live.Meter) {
	mux := http.NewServeMux()
	mux.HandleFunc("/internal/", agent.ServeHTTP) // want PF044 warning: listens on 0.0.0.0:80
	l, err := net.Listen("tcp", "0.0.0.0:80")
	if err != nil {
		return
	}
	handler := meter.Middleware(mux)
	srv := &http.Server{Handler: handler}
	srv.Serve(meter.Listener(l))
}

func byDefault(agent *live.Agent) {
	http.Handle("/internal/", agent) // want PF044 warning: http.Handle mounts
	address := fmt.Sprintf(":%s", port)
	http.ListenAndServeTLS(address, "cert", "key", nil)
}

func main() {}
