// Practice is a server of one of ten kinds, with a Meter.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"example.com/agree/metered"
)

// kinds are what the servers do for a request. A function that makes one is called at the
// start.
var kinds = map[string]func() func(){
	"computing": func() func() { return func() { compute(1500) } },
	"waiting": func() func() {
		return func() {
			compute(250)
			time.Sleep(2 * time.Millisecond)
			compute(250)
		}
	},
	"locked":     locked,
	"allocating": func() func() { return func() { made.Store(key{}, grow(11)) } },
	"quota":      func() func() { return func() { compute(1500) } },
	"goroutines": func() func() { return func() { spread(100, 15) } },
	"chain":      func() func() { return chain },
	"sized":      sized,
	"uneven":     uneven,
	"idle":       idle,
}

// compute hashes a short text n times, at some 0.2 µs each.
func compute(n int) {
	sum := [32]byte{}
	for range n {
		sum = sha256.Sum256(sum[:])
	}
}

// locked does half of its work under one lock.
func locked() func() {
	var mu sync.Mutex
	return func() {
		for range 10 {
			mu.Lock()
			compute(75)
			mu.Unlock()
			compute(75)
		}
	}
}

// key is that of the newest tree.
type key struct{}

var made sync.Map // the newest tree, which keeps the compiler from leaving it out

type tree struct{ left, right *tree }

func grow(levels int) *tree {
	if levels == 0 {
		return &tree{}
	}
	return &tree{grow(levels - 1), grow(levels - 1)}
}

// spread does the work in many goroutines.
func spread(goroutines, work int) {
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() { compute(work) })
	}
	all.Wait()
}

// chain hands a number through many goroutines.
func chain() {
	first := make(chan int)
	in := first
	for range 100 {
		out := make(chan int)
		go func(in <-chan int) {
			compute(5)
			out <- <-in + 1
		}(in)
		in = out
	}
	first <- 0
	<-in
}

// sized has as many workers as GOMAXPROCS at the start, which mostly wait.
func sized() func() {
	work := make(chan chan<- bool)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for done := range work {
				compute(250)
				time.Sleep(500 * time.Microsecond)
				done <- true
			}
		}()
	}
	return func() {
		done := make(chan bool)
		work <- done
		<-done
	}
}

// uneven has one request of 20 that is 40 times as much work.
func uneven() func() {
	return func() {
		if rand.IntN(20) == 0 {
			compute(20_000)
			return
		}
		compute(500)
	}
}

// idle has many goroutines that wake up now and then.
func idle() func() {
	for range 2000 {
		go func() {
			time.Sleep(rand.N(200 * time.Millisecond))
			for range time.Tick(200 * time.Millisecond) {
				compute(5)
			}
		}()
	}
	return func() { compute(250) }
}

func main() {
	kind := flag.String("kind", "computing", "what the server does")
	address := flag.String("addr", "127.0.0.1:0", "where to serve")
	flag.Parse()
	start, ok := kinds[*kind]
	if !ok {
		fmt.Fprintf(os.Stderr, "no kind of server is %q\n", *kind)
		os.Exit(2)
	}
	metered.Allow()
	work := start()
	l, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		work()
		w.Write([]byte("ok"))
	})
	log.Fatal(metered.Server(&http.Server{Handler: answer}).Serve(metered.Meter.Listener(l)))
}
