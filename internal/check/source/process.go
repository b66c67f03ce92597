package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Bounds are what a judger may take that runs in a process of its own. Some 40 lines of Go are
// enough for types that no memory holds: go/types evaluates them as the compiler would.
type Bounds struct {
	Memory  int64         // of the process and, by itself, of the go command, in bytes
	List    time.Duration // of the go command, for one module: it may download what that imports
	Package time.Duration // of one package
}

// DefaultBounds leave room: of the 54 packages here that are judged, the slowest takes 0.4 s on
// two busy CPUs.
func DefaultBounds() *Bounds {
	return &Bounds{Memory: 2 << 30, List: 2 * time.Minute, Package: 20 * time.Second}
}

// stageName is the hidden first argument of the process. It is in ps.
const stageName = "(source)"

// Stage is the judger's side of a process, when this one was started as that: then ok is true,
// and the caller exits with the code. Main, and the TestMain of a package that checks source
// within Bounds, calls it before all else.
func Stage(args []string) (code int, ok bool) {
	if len(args) != 3 || args[1] != stageName {
		return 0, false
	}
	memory, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil || boundMemory(memory) != nil {
		return 1, true
	}
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), memory/4*3))
	in, out := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	for j := new(judger); ; {
		var r request
		if in.Decode(&r) != nil {
			return 0, true // nobody asks any more
		}
		send := func(a reply) {
			if err == nil {
				err = out.Encode(a)
			}
		}
		j.answer(context.Background(), r, send)
		send(reply{End: true})
		if err != nil {
			return 1, true
		}
	}
}

// asked is who answers requests: a judger here, or a process.
type asked interface {
	do(ctx context.Context, r request, tell func(reply)) error
	close()
}

func (j *judger) do(ctx context.Context, r request, tell func(reply)) error {
	j.answer(ctx, r, tell)
	return ctx.Err()
}

func (j *judger) close() {}

// exceeded is that a process has ended before it had answered.
type exceeded struct {
	item int    // the number of the one that it was about, from 1; 0: the listing
	why  string // what doing so does: "takes longer than 20 s"
}

func (e *exceeded) Error() string { return e.why }

// process is a judger in a process of its own, which is started when it is needed, and again
// after it has ended.
type process struct {
	bounds  Bounds
	running *running
}

// running is one that runs.
type running struct {
	*supervisor.Process
	end     func() // ends it and all that it has started, and what is being sent to it
	ask     *gob.Encoder
	answers chan reply  // closed at its end
	said    chan []byte // what it printed of its end
}

func (p *process) do(ctx context.Context, r request, tell func(reply)) (err error) {
	if p.running == nil {
		if p.running, err = p.start(ctx); err != nil {
			return cmp.Or(ctx.Err(), error(&exceeded{0, "is not possible: " + err.Error()}))
		}
	}
	now, item := p.running, 0
	unread := time.AfterFunc(p.bounds.List, now.end)
	err = now.ask.Encode(r)
	if !unread.Stop() {
		return p.tooLong(item)
	}
	late := time.NewTimer(p.bounds.List)
	defer late.Stop()
	if err != nil {
		return p.ended(ctx, item, late.C)
	}
	for {
		select {
		case a, ok := <-now.answers:
			switch {
			case !ok:
				return p.ended(ctx, item, late.C)
			case a.End:
				return nil
			case a.Begins > 0:
				item = a.Begins
				late.Reset(p.bounds.Package)
			}
			tell(a)
		case <-late.C:
			return p.tooLong(item)
		case <-ctx.Done():
			now.end()
			p.running = nil
			return ctx.Err()
		}
	}
}

// tooLong ends a process that takes too long.
func (p *process) tooLong(item int) error {
	p.running.end()
	p.running = nil
	bound := p.bounds.Package
	if item == 0 {
		bound = p.bounds.List
	}
	return &exceeded{item, "takes longer than " + number.Chosen(bound)}
}

// ended is why a process has ended by itself. One that only answers no more is ended.
func (p *process) ended(ctx context.Context, item int, late <-chan time.Time) error {
	now := p.running
	p.running = nil
	defer now.end()
	select {
	case <-now.Done():
	case <-ctx.Done():
	case <-late:
		return &exceeded{item, "failed: its process stopped answering and did not end"}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	exit, err := now.Wait()
	said := <-now.said
	switch {
	case err != nil:
		return &exceeded{item, "failed: its process was lost: " + phrase.FirstLine(err.Error())}
	case bytes.Contains(said, []byte("out of memory")), bytes.Contains(said, []byte("cannot allocate memory")),
		bytes.Contains(said, []byte("pthread_create failed")), // there is no room for the stack of a thread
		exit.Signal == "SIGKILL":
		return &exceeded{item, "takes more than " + number.Short(number.Bytes(float64(p.bounds.Memory))) + " of memory"}
	}
	return &exceeded{item, "failed: its process " + exit.String() + ": " + phrase.Clip(phrase.FirstLine(strings.TrimSpace(string(said))), 200)}
}

func (p *process) start(ctx context.Context) (_ *running, err error) {
	self := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		if self, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	var ours, theirs [3]*os.File
	defer func() {
		closeAll(theirs[:])
		if err != nil {
			closeAll(ours[:])
		}
	}()
	for i := range ours {
		from, to, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if ours[i], theirs[i] = from, to; i == 0 {
			ours[i], theirs[i] = to, from
		}
	}
	ctx, end := context.WithCancel(ctx)
	child, err := supervisor.Start(ctx, supervisor.Spec{
		Command: []string{self, stageName, strconv.FormatInt(p.bounds.Memory, 10)}, Env: os.Environ(),
		Streams: &supervisor.Streams{In: theirs[0], Out: theirs[1], Err: theirs[2]},
	})
	if err != nil {
		end()
		return nil, fmt.Errorf("start a process that judges source: %w", err)
	}
	stop := func() {
		ours[0].Close()
		end()
	}
	r := &running{child, stop, gob.NewEncoder(ours[0]), make(chan reply), make(chan []byte, 1)}
	go r.read(ctx, ours[1])
	go func() {
		defer ours[2].Close()
		said, _ := io.ReadAll(io.LimitReader(ours[2], 4<<10)) // the head of a crash says why
		r.said <- said
		_, _ = io.Copy(io.Discard, ours[2])
	}()
	return r, nil
}

// read hands on what the process answers.
func (r *running) read(ctx context.Context, from *os.File) {
	defer from.Close()
	defer close(r.answers)
	for in := gob.NewDecoder(from); ; {
		var a reply
		if in.Decode(&a) != nil {
			return
		}
		select {
		case r.answers <- a:
		case <-ctx.Done():
			return
		}
	}
}

func (p *process) close() {
	if p.running != nil {
		p.running.end()
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// mostExceeded is how often a run may exceed the Bounds before it asks for no more listings, and
// judges all packages by their syntax.
const mostExceeded = 3

const tooOften = "is no longer tried, because it took too much three times"

// ask has packages judged. What exceeds the Bounds is judged by its syntax, and where even that
// does, not at all: it is then told of as nil.
func (k *Checker) ask(ctx context.Context, r request, tell func(of item, j *judged)) error {
	all := r.Judge
	for done := 0; done < len(all); {
		if k.exceeded >= mostExceeded {
			simplify(all[done:], tooOften)
		}
		r.Judge = all[done:]
		err := k.judger.do(ctx, r, func(a reply) {
			if a.Judged != nil {
				tell(all[done], a.Judged)
				done++
			}
		})
		var over *exceeded
		switch {
		case err != nil && !errors.As(err, &over):
			return err
		case err == nil, done == len(all):
			continue
		case all[done].Plain && (over.item > 0 || !needsListing(all[done:])):
			all[done].why = over.why
			tell(all[done], nil)
			done++
			continue
		}
		k.exceeded++
		if left := all[done:]; over.item == 0 {
			simplify(left, over.why)
		} else {
			simplify(left[:1], over.why)
		}
	}
	return nil
}

// simplify has packages judged by their syntax.
func simplify(all []item, why string) {
	for i := range all {
		if one := &all[i]; !one.Plain {
			one.Plain, one.why = true, why
		}
	}
}

// needsListing reports whether one of the packages is judged with what the go command knows of it.
func needsListing(all []item) bool {
	return slices.ContainsFunc(all, func(i item) bool { return i.Listed > 0 && !i.Plain })
}
