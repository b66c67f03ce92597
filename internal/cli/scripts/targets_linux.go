package scripts

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

// server is a server that misbehaves as its flags say.
type server struct {
	addr, pids, fall, profiles    string
	status, procs, most           int
	every                         int64
	work, crash, starting         time.Duration
	stubborn, fork, mute, metered bool

	began   time.Time
	answers atomic.Int64
	kept    atomic.Pointer[[]byte]
}

func fakeServer() {
	s := new(server)
	flag.StringVar(&s.addr, "addr", "", "where to listen")
	flag.IntVar(&s.status, "status", 200, "status of every nth answer")
	flag.Int64Var(&s.every, "every", 1, "n of -status")
	flag.DurationVar(&s.work, "work", 0, "time to sleep before an answer")
	flag.DurationVar(&s.crash, "crash", 0, "exit with code 7 after this time")
	flag.BoolVar(&s.stubborn, "stubborn", false, "ignore SIGTERM")
	flag.BoolVar(&s.fork, "fork", false, "start a grandchild in a session of its own")
	flag.IntVar(&s.procs, "procs", 0, "set GOMAXPROCS in code")
	flag.DurationVar(&s.starting, "starting", 0, "answer 503 at /healthz for this time")
	flag.BoolVar(&s.mute, "mute", false, "listen, but never answer")
	flag.StringVar(&s.pids, "pids", "", "append the PIDs to this file")
	flag.StringVar(&s.fall, "panic", "", "panic with this at the start")
	flag.BoolVar(&s.metered, "meter", false, "have a Meter, and allow leases")
	flag.IntVar(&s.most, "max", 0, "the highest GOMAXPROCS of a lease")
	flag.StringVar(&s.profiles, "pprof", "", "serve profiles at this address, or at -addr: own")
	flag.Parse()
	s.misbehave()
	l, err := net.Listen("tcp", s.addr)
	must(err)
	for s.mute {
		time.Sleep(time.Hour) // select{} alone is a deadlock to a program without cgo
	}
	s.began = time.Now()
	s.serve(l)
}

func (s *server) misbehave() {
	if s.fall != "" {
		panic(s.fall)
	}
	if s.procs > 0 {
		runtime.GOMAXPROCS(s.procs)
	}
	if s.stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	if s.pids != "" {
		notePID(s.pids, os.Getpid())
	}
	if s.fork {
		child := exec.Command("sleep", "600")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must(child.Start())
		if s.pids != "" {
			notePID(s.pids, child.Process.Pid)
		}
	}
	if s.crash > 0 {
		time.AfterFunc(s.crash, func() {
			fmt.Fprintln(os.Stderr, "fatal error: the sky has fallen")
			os.Exit(7)
		})
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" && time.Since(s.began) < s.starting {
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
		garbage(&s.kept)
	}
	for from := time.Now(); r.URL.Path == "/cpu" && time.Since(from) < time.Millisecond; {
	}
	time.Sleep(s.work)
	if s.answers.Add(1)%s.every == 0 {
		w.WriteHeader(s.status)
	}
	io.WriteString(w, "ok")
}

func (s *server) serve(l net.Listener) {
	var handler http.Handler = s
	srv := &http.Server{}
	if s.profiles != "" {
		runtime.MemProfileRate = 4 << 10 // a second on a busy machine has few of the usual 512 KiB
		handler = profiled(handler, s.profiles)
	}
	if s.metered {
		var m live.Meter
		live.Allow(&m, live.Max(s.most))
		handler, srv.ConnContext, l = m.Middleware(handler), m.ConnContext, m.Listener(l)
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

func fakeBatch() {
	fail := flag.Int("fail", 0, "exit code")
	line := flag.String("print", "", "what to print")
	work := flag.Duration("work", 100*time.Millisecond, "time to compute on each P: procfit has to read a program while it runs, on a busy machine too")
	idle := flag.Duration("idle", 0, "time to wait after that, without CPU time")
	most := flag.Int64("spam", 0, "bytes to print first")
	allocate := flag.Bool("allocate", false, "make garbage meanwhile")
	flag.Parse()
	block := strings.Repeat(strings.Repeat("x", 79)+"\n", 1024)
	for ; *most > 0; *most -= int64(len(block)) {
		fmt.Print(block)
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
	time.Sleep(*idle)
	if *line != "" {
		fmt.Println(*line)
	}
	os.Exit(*fail)
}

func garbage(kept *atomic.Pointer[[]byte]) { kept.Store(new(make([]byte, 100<<10))) }

func notePID(file string, pid int) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(err)
	defer f.Close()
	_, err = fmt.Fprintln(f, pid)
	must(err)
}

// fakeProcs prints its GOMAXPROCS, its process and what its environment says.
func fakeProcs() {
	fmt.Println(runtime.GOMAXPROCS(0), os.Getpid(), os.Getenv("GOMAXPROCS"))
}
