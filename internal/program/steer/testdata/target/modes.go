package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// start has the program do something in addition to its requests.
func start(mode string) {
	name, number := mode, 0
	if i := strings.IndexByte(mode, '='); i >= 0 {
		name = mode[:i]
		number, _ = strconv.Atoi(mode[i+1:])
	}
	switch name {
	case "threads":
		for i := 0; i < number; i++ {
			go asleep()
		}
		time.Sleep(time.Second)
	case "locked":
		for i := 0; i < 3; i++ {
			go locked()
		}
	case "signals":
		signals()
	case "collect":
		go func() {
			for {
				runtime.GC()
			}
		}()
		go garbage()
	case "profile":
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			panic(err)
		}
	case "compute":
		for i := 0; i < number; i++ {
			go func() {
				for {
					if work() != first {
						atomic.AddInt64(&wrong, 1)
					}
				}
			}()
		}
	case "fork":
		go func() {
			for {
				if err := exec.Command("/bin/true").Run(); err != nil {
					atomic.AddInt64(&wrong, 1)
				}
			}
		}()
	case "end":
		go func() {
			for {
				endThread()
			}
		}()
	case "ignore":
		ignoreTraps()
	default:
		panic(mode)
	}
}

// endThread has a thread work and end.
func endThread() {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // the thread ends with it
		work()
		close(done)
	}()
	<-done
}

// ignoreTraps is what only C code can do.
var ignoreTraps func()

// asleep is a goroutine with a thread of its own that waits in the kernel.
func asleep() {
	runtime.LockOSThread()
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		panic(err)
	}
	syscall.Read(p[0], make([]byte, 1))
}

// locked computes in a thread of its own.
func locked() {
	runtime.LockOSThread()
	tid := syscall.Gettid()
	for {
		if work() != first || syscall.Gettid() != tid {
			atomic.AddInt64(&wrong, 1)
		}
		time.Sleep(time.Millisecond)
	}
}

// signals sends itself signals, which have to arrive.
func signals() {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	go func() {
		for {
			syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
			select {
			case <-got:
			case <-time.After(30 * time.Second):
				atomic.AddInt64(&wrong, 1)
			}
			time.Sleep(200 * time.Microsecond)
		}
	}()
}

var kept [][]byte

// garbage keeps the collector busy.
func garbage() {
	for i := 0; ; i++ {
		b := make([]byte, 4096)
		if i%8 == 0 {
			kept = append(kept, b)
		}
		if len(kept) > 4096 {
			kept = nil
		}
		time.Sleep(10 * time.Microsecond)
	}
}
