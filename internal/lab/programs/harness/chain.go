package harness

import (
	"fmt"
	"time"
)

// link passes on what it gets, one more.
func link(left <-chan int, right chan<- int) {
	for {
		n, ok := <-left
		if !ok {
			close(right)
			return
		}
		right <- n + 1
	}
}

// Chain sends messages, one after the other, through goroutines that channels of a size
// join, and returns how long that took. It keeps to Go 1.2.
func Chain(goroutines, buffer, messages int) (elapsed time.Duration, err error) {
	first := make(chan int, buffer)
	last := first
	for i := 0; i < goroutines; i++ {
		next := make(chan int, buffer)
		go link(last, next)
		last = next
	}
	start := time.Now()
	for i := 0; i < messages && err == nil; i++ {
		first <- i
		if got := <-last; got != i+goroutines {
			err = fmt.Errorf("message %d came out as %d, want %d", i, got, i+goroutines)
		}
	}
	elapsed = time.Since(start)
	close(first)
	<-last // closed too, once every goroutine has ended
	return elapsed, err
}
