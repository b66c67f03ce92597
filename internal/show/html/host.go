package html

import (
	"net"
	"net/http"
)

// Here serves h at an address. At one of the loopback it refuses requests for any other host:
// a page in a browser on this machine can have its own name lead here, and read the answers.
func Here(at net.Addr, h http.Handler) http.Handler {
	if tcp, ok := at.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			http.Error(w, "this address is for this machine alone: use localhost or 127.0.0.1", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// loopback reports whether a request's host is this machine, by a name that no other
// machine can give it.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}
