package meter

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"github.com/procfit/procfit/maxprocs/live"
)

// kinds are what the servers do for a request. Each uses some milliseconds of CPU time.
var kinds = map[string]func(){
	"computing": func() { compute(30_000) },
	"waiting": func() {
		compute(5_000)
		time.Sleep(5 * time.Millisecond)
		time.Sleep(5 * time.Millisecond)
	},
	"locked": func() {
		for range 20 {
			shared.Lock()
			compute(750)
			shared.Unlock()
			compute(750)
		}
	},
	"allocating": func() { made.Store(key{}, grow(15)) },
	"quota":      func() { compute(30_000) },
	"TLS":        func() { compute(30_000) },
	"HTTP/2":     func() { compute(30_000) },
}

// key is that of the newest tree.
type key struct{}

var (
	shared sync.Mutex
	made   sync.Map // the newest tree, which keeps the compiler from leaving it out
)

// compute hashes a short text n times, at some 0.2 µs each.
func compute(n int) {
	sum := [32]byte{}
	for range n {
		sum = sha256.Sum256(sum[:])
	}
}

type tree struct{ left, right *tree }

// grow allocates a tree of so many levels.
func grow(levels int) *tree {
	if levels == 0 {
		return &tree{}
	}
	return &tree{grow(levels - 1), grow(levels - 1)}
}

// serve is the process of a server of one kind: it prints its address and serves until its
// standard input ends.
func serve(kind string) error {
	work, ok := kinds[kind]
	if !ok {
		return errors.New("no kind of server is " + kind)
	}
	var meter live.Meter
	s := httptest.NewUnstartedServer(meter.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		work()
		w.Write([]byte("ok"))
	})))
	s.Listener = meter.Listener(s.Listener)
	s.Config.ConnContext, s.Config.ErrorLog = meter.ConnContext, log.New(io.Discard, "", 0)
	switch kind {
	case "TLS":
		s.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
		s.StartTLS()
	case "HTTP/2":
		s.EnableHTTP2 = true
		s.StartTLS()
	default:
		s.Start()
	}
	defer s.Close()
	fmt.Println(s.URL)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
