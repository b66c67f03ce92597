// Writes work for the scheduler: GOMAXPROCS from the environment, busy
// goroutines that yield, some that sleep, some that wait on a channel and a
// mutex. With argument "chatty" it also writes lines to standard error. It
// compiles with Go 1.2 and everything since.
package main

import (
	"os"
	"runtime"
	"sync"
	"time"
)

func main() {
	end := time.Now().Add(600 * time.Millisecond)
	var mu sync.Mutex
	never := make(chan bool)
	for i := 0; i < 3; i++ {
		go func() { <-never }()
		go func() {
			for {
				mu.Lock()
				time.Sleep(time.Millisecond)
				mu.Unlock()
			}
		}()
	}
	if len(os.Args) > 1 && os.Args[1] == "chatty" {
		go func() {
			for i := 0; ; i++ {
				os.Stderr.WriteString("2026/01/02 15:04:05 INFO handled request id=12345 status=200\n")
				if i%8 == 0 {
					time.Sleep(100 * time.Microsecond)
				}
			}
		}()
	}
	if len(os.Args) > 1 && os.Args[1] == "deadlock" {
		runtime.LockOSThread()
		mu = sync.Mutex{}
		panic("on purpose")
	}
	done := make(chan int)
	const busy = 12
	for i := 0; i < busy; i++ {
		go func(n int) {
			for time.Now().Before(end) {
				for k := 0; k < 100000; k++ {
					n = n*31 + k
				}
				runtime.Gosched()
			}
			done <- n
		}(i)
	}
	for i := 0; i < busy; i++ {
		<-done
	}
}
