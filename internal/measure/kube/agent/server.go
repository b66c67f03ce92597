// Package agent is what procfit runs inside a cluster: it offers load from a pod of
// its own, and looks at a target from a container next to it. It is asked over HTTP, by
// a [Client] whose connections come through the API server's port-forward, and listens
// on the loopback of its pod alone, so that nothing else in the cluster can ask it.
//
// What is asked for carries an id of the asker's: asked again after a lost connection
// it is not done twice, and what came of it waits to be fetched. An agent that nobody
// asks for a while ends by itself.
//
// A load is the whole of load.Options and its answer the whole of load.Result, so that
// what the engine learns needs nothing here.
package agent

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/load"
)

const (
	// longPoll is how long a question may wait for its answer, well below what
	// proxies on the way take for a dead connection.
	longPoll     = 15 * time.Second
	askPatience  = 5 * time.Second // for a URL that is asked once
	mostBody     = 4 << 20         // of a page that is fetched
	idleInterval = 200 * time.Millisecond
	// mostLoad is how large the options of a load are at most: a body, for which the JSON
	// has four bytes for three, is most of it.
	mostLoad = 64 << 20
	// longest is how long a load may take.
	longest = 24 * time.Hour
)

// Offer runs a load: engine.Run.
type Offer func(context.Context, load.Options) (*load.Result, error)

// Server answers what a Client with its token asks, and nobody else: every container of
// its pod reaches its port and, in the network of a node, every process there. The zero
// value is not ready: NewServer.
type Server struct {
	Try      Try // tries values in a program of the pod
	offer    Offer
	token    string
	observer observer

	mu     sync.Mutex
	tried  experiment
	job    *job  // the last load; nil: none was asked for yet
	span   *span // the last one, in the same way
	asking int   // questions that are not answered yet
	asked  time.Time
	// ending is that the asker wants no more.
	ending bool
}

// NewServer makes a Server that offers load by this function, to whom has the token.
func NewServer(token string, offer Offer) *Server {
	return &Server{token: token, offer: offer, observer: observer{list: pids}, asked: time.Now()}
}

// Serve answers until ctx ends, or until nobody has asked for so long: who wants a load
// waits for it with one question after the other.
func (s *Server) Serve(ctx context.Context, l net.Listener, idle time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	web := &http.Server{Handler: s.Handler(ctx), ReadHeaderTimeout: askPatience}
	go func() {
		for ctx.Err() == nil && !s.idleFor(idle) {
			_ = wait.For(ctx, min(idleInterval, idle))
		}
		cancel()
		web.Close()
	}()
	defer s.tried.all.Wait() // the program has its value back then
	if err := web.Serve(l); err != http.ErrServerClosed {
		cancel()
		return err
	}
	return nil
}

func (s *Server) idleFor(idle time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending || s.asking == 0 && time.Since(s.asked) > idle
}

// Handler answers; what it starts ends with ctx.
func (s *Server) Handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /loads/{id}", func(w http.ResponseWriter, r *http.Request) { s.startLoad(ctx, w, r) })
	mux.HandleFunc("GET /loads/{id}", s.awaitLoad)
	mux.HandleFunc("GET /answer", s.fetch)
	mux.HandleFunc("GET /look", func(w http.ResponseWriter, r *http.Request) {
		write(w, s.observer.named(port(r)))
	})
	mux.HandleFunc("PUT /end", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ending = true
		write(w, struct{}{})
	})
	mux.HandleFunc("PUT /tries/{id}", func(w http.ResponseWriter, r *http.Request) { s.startTry(ctx, w, r) })
	mux.HandleFunc("GET /tries/{id}", s.awaitTry)
	mux.HandleFunc("DELETE /tries/{id}", s.stopTry)
	mux.HandleFunc("PUT /spans/{id}", s.startSpan)
	mux.HandleFunc("GET /spans/{id}", s.endSpan)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != host { // a browser's, sent here by a name
			http.Error(w, "this is procfit's agent for a sweep; it refuses requests to another host name", http.StatusMisdirectedRequest)
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(tokenHeader)), []byte(s.token)) != 1 || s.token == "" {
			http.Error(w, "the agent answers only the sweep that started it", http.StatusForbidden)
			return
		}
		s.ask(1)
		defer s.ask(-1)
		mux.ServeHTTP(w, r)
	})
}

func (s *Server) ask(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking, s.asked = s.asking+more, time.Now()
}

func port(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("port")) // 0: no port is known
	return n
}

func (s *Server) startLoad(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	var o load.Options
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostLoad)).Decode(&o)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the body of the requests is too large: in a cluster it can have at most 48 MiB", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, fmt.Sprintf("invalid options of the load: %v", err), http.StatusBadRequest)
		return
	case o.Duration > longest || o.Settle > longest:
		http.Error(w, fmt.Sprintf("the load lasts %s: in a cluster it can last at most %s", o.Duration, longest), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := r.PathValue("id"); s.job == nil || s.job.id != id {
		earlier, j := s.job, newJob(id) // its asker has what came of an earlier one, or wants it no more
		s.job = j
		ctx, j.stop = context.WithCancel(ctx)
		go func() {
			if earlier != nil { // two would share the CPUs of the pod
				earlier.stop()
				<-earlier.done
			}
			j.run(ctx, o, s.offer)
		}()
	}
	write(w, struct{}{})
}

func (s *Server) awaitLoad(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	j := s.job
	s.mu.Unlock()
	if j == nil || j.id != r.PathValue("id") {
		http.Error(w, "unknown load: the agent was restarted in the meantime", http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), longPoll)
	defer cancel()
	write(w, j.wait(ctx, r.URL.Query().Has("until")))
}

// fetch asks a URL once, as seen from this pod.
func (s *Server) fetch(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), askPatience)
	defer cancel()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // only whether it answers; the load verifies for itself
	write(w, Fetch(ctx, transport, r.URL.Query().Get("url")))
}

// Fetch asks a URL once, and follows it nowhere.
func Fetch(ctx context.Context, by http.RoundTripper, url string) (a Answer) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	var response *http.Response
	if err == nil {
		request.Close = true // who is not ready is asked again and again
		response, err = by.RoundTrip(request)
	}
	if err == nil {
		defer response.Body.Close()
		var b []byte
		b, err = io.ReadAll(io.LimitReader(response.Body, mostBody))
		a.Status, a.Body = response.StatusCode, string(b)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func (s *Server) startSpan(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := r.PathValue("id"); s.span == nil || s.span.id != id {
		if s.span != nil && !s.span.ended { // its asker wants it no more
			s.span.end()
		}
		s.span = s.observer.start(port(r))
		s.span.id = id
	}
	write(w, struct{}{})
}

func (s *Server) endSpan(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.span == nil || s.span.id != r.PathValue("id") {
		http.Error(w, "unknown measurement: the agent was restarted in the meantime", http.StatusNotFound)
		return
	}
	s.span.ended = true
	write(w, s.span.end())
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) // a connection that is gone is the client's to notice
}

// job is a load under way, or what came of it.
type job struct {
	id             string
	stop           context.CancelFunc
	measured, done chan struct{} // closed when its measured time is over, and when all is
	ended          time.Time     // its measured time
	result         *result
	failed         string
}

func newJob(id string) *job {
	return &job{id: id, measured: make(chan struct{}), done: make(chan struct{})}
}

func (j *job) run(ctx context.Context, o load.Options, offer Offer) {
	defer close(j.done)
	defer j.stop()
	o.Ended = sync.OnceFunc(func() {
		j.ended = time.Now()
		close(j.measured)
	})
	r, err := offer(ctx, o)
	if err == nil {
		j.result, err = pack(r)
	}
	if err != nil {
		j.failed, j.result = err.Error(), nil
	}
}

// wait returns when the job is done, or with ended its measured time is over, or ctx ends.
func (j *job) wait(ctx context.Context, ended bool) (p progress) {
	var measured chan struct{} // nil: not waited for
	if ended {
		measured = j.measured
	}
	select {
	case <-measured:
	case <-j.done:
	case <-ctx.Done():
	}
	if over(j.measured) {
		p.EndedAgo = new(time.Since(j.ended))
	}
	if over(j.done) {
		p.Done, p.Error, p.Result = true, j.failed, j.result
	}
	return p
}

func over(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
