package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// urgent is how many signals by which the runtime preempts goroutines have come.
var urgent int64

func init() {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGURG)
	go func() {
		for range got {
			atomic.AddInt64(&urgent, 1)
		}
	}()
	http.HandleFunc("/urgent", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, atomic.LoadInt64(&urgent))
	})
}
