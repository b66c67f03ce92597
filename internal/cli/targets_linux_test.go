package cli

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/procfit/procfit/maxprocs/live"
)

// fakeServer is a server that misbehaves as its flags say.
func fakeServer() {
	addr := flag.String("addr", "", "where to listen")
	status := flag.Int("status", 200, "status of every nth answer")
	every := flag.Int64("every", 1, "n of -status")
	work := flag.Duration("work", 0, "time to sleep before an answer")
	crash := flag.Duration("crash", 0, "exit with code 7 after this time")
	stubborn := flag.Bool("stubborn", false, "ignore SIGTERM")
	fork := flag.Bool("fork", false, "start a grandchild in a session of its own")
	procs := flag.Int("procs", 0, "set GOMAXPROCS in code")
	starting := flag.Duration("starting", 0, "answer 503 at /healthz for this time")
	mute := flag.Bool("mute", false, "listen, but never answer")
	pids := flag.String("pids", "", "append the PIDs to this file")
	spam := flag.Int64("spam", 0, "bytes to print")
	fall := flag.String("panic", "", "panic with this at the start")
	control := flag.String("meter", "", "have a Meter, and an Agent at this socket and below /internal/procfit/")
	most := flag.Int("max", 0, "the highest GOMAXPROCS that the Agent allows")
	profiles := flag.String("pprof", "", "serve profiles at this address, or at -addr: own")
	flag.Parse()
	if *fall != "" {
		panic(*fall)
	}
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}
	if *stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	if *pids != "" {
		notePID(*pids, os.Getpid())
	}
	if *fork {
		child := exec.Command("sleep", "600")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must(child.Start())
		if *pids != "" {
			notePID(*pids, child.Process.Pid)
		}
	}
	if *crash > 0 {
		time.AfterFunc(*crash, func() {
			fmt.Fprintln(os.Stderr, "fatal error: the sky has fallen")
			os.Exit(7)
		})
	}
	if *spam > 0 {
		go print(os.Stdout, *spam)
	}
	var answers atomic.Int64
	var kept atomic.Pointer[[]byte]
	l, err := net.Listen("tcp", *addr)
	must(err)
	for *mute {
		time.Sleep(time.Hour) // select{} alone is a deadlock to a program without cgo
	}
	began := time.Now()
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && time.Since(began) < *starting {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == "/slow" {
			time.Sleep(20 * time.Millisecond)
		}
		if r.URL.Path == "/panic" {
			panic("in a handler")
		}
		if r.URL.Path == "/garbage" {
			garbage(&kept)
		}
		for from := time.Now(); r.URL.Path == "/cpu" && time.Since(from) < time.Millisecond; {
		}
		time.Sleep(*work)
		if answers.Add(1)%*every == 0 {
			w.WriteHeader(*status)
		}
		io.WriteString(w, "ok")
	})
	srv := &http.Server{}
	if *profiles != "" {
		runtime.MemProfileRate = 4 << 10 // a second on a busy machine has few of the usual 512 KiB
		handler = profiled(handler, *profiles)
	}
	if *control != "" {
		var m live.Meter
		agent := live.New(&m, live.Max(*most))
		_, err := agent.Listen(*control)
		must(err)
		mux := http.NewServeMux()
		mux.Handle("/internal/procfit/", agent)
		mux.Handle("/", m.Middleware(handler))
		handler, srv.ConnContext, l = mux, m.ConnContext, m.Listener(l)
	}
	srv.Handler = handler
	must(srv.Serve(l))
}

// profiled serves the profiles of net/http/pprof, with the handler or at an address of its own.
func profiled(handler http.Handler, addr string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	if addr != "own" {
		go func() { must(http.ListenAndServe(addr, mux)) }()
		return handler
	}
	mux.Handle("/", handler)
	return mux
}

// fakeBatch is a batch program.
func fakeBatch() {
	fail := flag.Int("fail", 0, "exit code")
	line := flag.String("print", "", "what to print")
	work := flag.Duration("work", 20*time.Millisecond, "CPU time to burn on each P")
	spam := flag.Int64("spam", 0, "bytes to print first")
	allocate := flag.Bool("allocate", false, "make garbage meanwhile")
	flag.Parse()
	if *spam > 0 {
		print(os.Stdout, *spam)
	}
	done := make(chan bool)
	var kept atomic.Pointer[[]byte]
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for end := time.Now().Add(*work); time.Now().Before(end); {
				if *allocate {
					garbage(&kept)
				}
			}
			done <- true
		}()
	}
	for range runtime.GOMAXPROCS(0) {
		<-done
	}
	if *line != "" {
		fmt.Println(*line)
	}
	os.Exit(*fail)
}

// garbage replaces what is kept.
func garbage(kept *atomic.Pointer[[]byte]) { kept.Store(new(make([]byte, 100<<10))) }

func print(w io.Writer, bytes int64) {
	block := []byte(strings.Repeat(strings.Repeat("x", 79)+"\n", 1024))
	for ; bytes > 0; bytes -= int64(len(block)) {
		if _, err := w.Write(block[:min(bytes, int64(len(block)))]); err != nil {
			return
		}
	}
}

func notePID(file string, pid int) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(err)
	defer f.Close()
	_, err = fmt.Fprintln(f, pid)
	must(err)
}
