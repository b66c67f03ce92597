// None of these is known to be reached by others without a login.
package main

import (
	"flag"
	"net"
	"net/http"
	"os"

	"github.com/procfit/procfit/maxprocs/live"
)

func login(h http.Handler) http.Handler { return h }

var agent = live.New(nil)

func mounted() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	return mux
}

func loopback() {
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.ListenAndServe("127.0.0.1:8080", mux)
}

func named() {
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.ListenAndServe("localhost:8080", mux)
}

func asked() {
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.ListenAndServe(os.Getenv("ADDRESS"), mux)
}

func byFlag() {
	address := flag.String("address", ":8080", "")
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.ListenAndServe(*address, mux)
}

func someHost(host string) {
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.ListenAndServe(host+":8080", mux)
}

func behindLogin() {
	mux := http.NewServeMux()
	mux.Handle("/internal/", login(agent))
	http.ListenAndServe(":8080", mux)
}

func allBehindLogin() {
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.ListenAndServe(":8080", login(mux))
}

func two() {
	public, own := http.NewServeMux(), http.NewServeMux()
	own.Handle("/internal/", agent)
	go http.ListenAndServe("[::1]:8081", own)
	http.ListenAndServe(":8080", public)
}

func socket() {
	l, _ := net.Listen("unix", "/run/app.sock")
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.Serve(l, mux)
}

func anyPort() { // as tests do
	l, _ := net.Listen("tcp", ":0")
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	http.Serve(l, mux)
}

func atOnce() {
	http.Serve(listenerAndMux())
}

func listenerAndMux() (net.Listener, http.Handler) {
	mux := http.NewServeMux()
	mux.Handle("/internal/", agent)
	l, _ := net.Listen("tcp", ":8080")
	return l, mux
}

func main() {
	agent.Listen("/run/app/procfit.sock")
	http.ListenAndServe(":8080", mounted())
}
