package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Try runs procfit live in the pod, hands on what it prints of its progress, and returns its journal
// and its exit code.
type Try func(ctx context.Context, args []string, tell func(line string)) (journal []byte, code int, err error)

// Tried is an experiment so far.
type Tried struct {
	Lines   []string `json:"lines"` // of its progress, from the one that was asked for
	Done    bool     `json:"done"`
	Code    int      `json:"code"`    // its exit code
	Journal []byte   `json:"journal"` // at the end, from the byte that was asked for; null: it has none
	Left    int      `json:"left"`    // bytes of the journal after these
	Error   string   `json:"error"`
}

// mostPart is how much of a journal is in one answer: of a long experiment it does not fit into
// mostAnswer, in which it takes a third more.
var mostPart = 16 << 20

// experiment is one at work. An agent has one in its life.
type experiment struct {
	mu   sync.Mutex
	id   string
	stop context.CancelFunc
	now  Tried
	all  sync.WaitGroup
}

func (s *Server) startTry(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	var args []string
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody)).Decode(&args); err != nil {
		http.Error(w, fmt.Sprintf("invalid arguments: %v", err), http.StatusBadRequest)
		return
	}
	e := &s.tried
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.id == "" {
		ctx, stop := context.WithCancel(ctx)
		e.id, e.stop = r.PathValue("id"), stop
		e.all.Go(func() {
			journal, code, err := s.Try(ctx, args, func(line string) {
				e.mu.Lock()
				defer e.mu.Unlock()
				e.now.Lines = append(e.now.Lines, line)
			})
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.now.Done, e.now.Code, e.now.Journal = true, code, journal; err != nil {
				e.now.Error = err.Error()
			}
		})
	}
	write(w, struct{}{})
}

// awaitTry answers when there is a line more than the asker has, or the end.
func (s *Server) awaitTry(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	at, _ := strconv.Atoi(r.URL.Query().Get("journal"))
	e := &s.tried
	for until := time.Now().Add(longPoll); ; {
		e.mu.Lock()
		now, id := e.now, e.id
		e.mu.Unlock()
		switch {
		case id != r.PathValue("id"):
			http.Error(w, "unknown experiment: the agent was restarted in the meantime", http.StatusNotFound)
			return
		case now.Done || len(now.Lines) > from || time.Now().After(until) || r.Context().Err() != nil:
			now.Lines = now.Lines[min(max(0, from), len(now.Lines)):]
			now.Journal = now.Journal[min(max(0, at), len(now.Journal)):]
			now.Left = max(0, len(now.Journal)-mostPart)
			now.Journal = now.Journal[:len(now.Journal)-now.Left]
			write(w, now)
			return
		}
		time.Sleep(idleInterval)
	}
}

func (s *Server) stopTry(w http.ResponseWriter, _ *http.Request) {
	s.tried.mu.Lock()
	defer s.tried.mu.Unlock()
	if s.tried.stop != nil {
		s.tried.stop()
	}
	write(w, struct{}{})
}

// Try has the agent try values, and hands on its lines. When ctx ends, the agent has the program get
// its value back, and the journal so far is returned.
func (c *Client) Try(ctx context.Context, args []string, tell func(line string)) (t Tried, err error) {
	path := "/tries/" + rand.Text()
	if err := c.ask(ctx, http.MethodPut, path, args, nil); err != nil {
		return t, err
	}
	asking, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stop := context.AfterFunc(ctx, func() {
		_ = c.ask(asking, http.MethodDelete, path, nil, nil) // else the agent is gone, which the question below finds
	})
	defer stop()
	var journal []byte
	for from := 0; ; from += len(t.Lines) {
		t = Tried{}
		if err := c.ask(asking, http.MethodGet, fmt.Sprintf("%s?from=%d&journal=%d", path, from, len(journal)), nil, &t); err != nil {
			return t, err
		}
		if t.Journal != nil {
			journal = append(journal, t.Journal...)
			t.Journal = journal
		}
		for _, line := range t.Lines {
			tell(strings.TrimSuffix(line, "\n"))
		}
		switch {
		case t.Left > 0:
		case t.Done && t.Error != "":
			return t, errors.New(t.Error)
		case t.Done:
			return t, nil
		}
	}
}
