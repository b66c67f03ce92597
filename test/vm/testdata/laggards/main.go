// Command laggards is a server that follows its CPU limit as Go does, or by its first
// word does not.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime"
	"time"
)

// work is how long a request waits, as one of a database does: it takes hardly any CPU time.
const work = 50 * time.Millisecond

func main() {
	handle := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(work)
		fmt.Fprintln(w, "ok")
	}
	switch kind := os.Args[1]; kind {
	case "plain":
	case "fixed":
		runtime.GOMAXPROCS(3)
	case "start": // the value of now, as libraries set it
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	case "slow":
		go late()
	case "pool":
		handle = pooled(runtime.GOMAXPROCS(0))
	default:
		log.Fatalf("no laggard %q", kind)
	}
	http.HandleFunc("/", handle)
	log.Fatal(http.ListenAndServe(os.Args[2], nil))
}

// late takes the default over from the runtime, and waits for seven seconds before a
// change.
func late() {
	for {
		now := runtime.GOMAXPROCS(0)
		runtime.SetDefaultGOMAXPROCS()
		next := runtime.GOMAXPROCS(now)
		if next != now {
			time.Sleep(7 * time.Second)
			runtime.GOMAXPROCS(next)
		}
		time.Sleep(time.Second)
	}
}

// pooled has as many workers as there are Ps at the start.
func pooled(workers int) http.HandlerFunc {
	jobs := make(chan chan struct{})
	for range workers {
		go func() {
			for done := range jobs {
				time.Sleep(work)
				close(done)
			}
		}()
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		done := make(chan struct{})
		jobs <- done
		<-done
		fmt.Fprintln(w, "ok")
	}
}
