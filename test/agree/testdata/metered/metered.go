// Package metered is the Meter and the Agent of a program that a test builds with them.
package metered

import (
	"log"
	"net"
	"net/http"
	"os"
	"reflect"

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

// Matched is a listener whose connections were wrapped, as cmux wraps them, without the wrap
// showing: its connections have NetConn.
func Matched(l net.Listener) net.Listener { return matched{l} }

type matched struct{ net.Listener }

func (m matched) Accept() (net.Conn, error) {
	c, err := m.Listener.Accept()
	if err != nil {
		return nil, err
	}
	under := reflect.ValueOf(c).Elem().FieldByName("Conn").Interface().(net.Conn)
	return wrapped{c, under}, nil
}

type wrapped struct {
	net.Conn
	under net.Conn
}

func (w wrapped) NetConn() net.Conn { return w.under }
