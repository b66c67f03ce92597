// Package live stands for the real one.
package live

import (
	"net"
	"net/http"
)

type Meter struct{}

func (m *Meter) Middleware(next http.Handler) http.Handler { return next }

func (m *Meter) Listener(l net.Listener) net.Listener { return l }

type Agent struct{}

func New(*Meter) *Agent { return &Agent{} }

func (*Agent) ServeHTTP(http.ResponseWriter, *http.Request) {}

func (*Agent) Listen(string) (net.Listener, error) { return nil, nil }
