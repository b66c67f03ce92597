// Command target is a server that checks itself: every answer is computed in loops in which
// a lost flag or register shows. It is built by all releases since Go 1.17.
package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	wrong   int64 // answers that were not what they have to be
	counter int64
	calls   int64 // compare-and-swaps that took place
)

// swap adds to a counter by compare-and-swap, as sync.Mutex does: a CMPXCHG and a jump that
// looks at its flag.
func swap(n int) (mine int64) {
	for i := 0; i < n; i++ {
		for {
			old := atomic.LoadInt64(&counter)
			if atomic.CompareAndSwapInt64(&counter, old, old+1) {
				mine++
				break
			}
		}
	}
	return mine
}

// floats keeps many values in vector registers.
func floats(n int) float64 {
	a, b, c, d := 1.0, 2.0, 3.0, 4.0
	for i := 0; i < n; i++ {
		a, b, c, d = math.Sqrt(b*c+1), a*0.5+d, b+c*0.25, math.Abs(a-d)+0.125
	}
	return a + b + c + d
}

var want = floats(2000)

var mu sync.Mutex
var under int

// work is what a request does; what it returns must be the same each time.
func work() string {
	const n = 2000
	sum := sha256.Sum256([]byte("target"))
	for i := 0; i < 32; i++ {
		sum = sha256.Sum256(sum[:])
	}
	got := swap(n)
	atomic.AddInt64(&calls, got)
	mu.Lock()
	under++
	if under != 1 {
		atomic.AddInt64(&wrong, 1)
	}
	under--
	mu.Unlock()
	if got != n || floats(2000) != want {
		atomic.AddInt64(&wrong, 1)
	}
	return fmt.Sprintf("%x", sum)
}

var first = work()

// also is what a program with C does.
var also func()

func main() {
	for _, mode := range os.Args[1:] {
		start(mode)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if work() != first {
			atomic.AddInt64(&wrong, 1)
		}
		if also != nil {
			also()
		}
		fmt.Fprint(w, first)
	})
	http.HandleFunc("/check", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d %d %d", runtime.GOMAXPROCS(0), atomic.LoadInt64(&wrong), atomic.LoadInt64(&counter)-atomic.LoadInt64(&calls))
	})
	http.HandleFunc("/exec", func(w http.ResponseWriter, r *http.Request) {
		ms, _ := strconv.Atoi(r.FormValue("ms"))
		procs := r.FormValue("self")
		go func() {
			time.Sleep(time.Duration(ms) * time.Millisecond)
			if procs != "" {
				panic(syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), "GOMAXPROCS="+procs)))
			}
			panic(syscall.Exec("/bin/sleep", []string{"sleep", "60"}, nil))
		}()
	})
	http.HandleFunc("/fork", func(w http.ResponseWriter, r *http.Request) {
		if err := exec.Command("/bin/true").Run(); err != nil {
			atomic.AddInt64(&wrong, 1)
		}
	})
	http.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) {
		endThread()
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	fmt.Fprintln(os.Stderr, http.Serve(l, nil))
	os.Exit(1)
}
