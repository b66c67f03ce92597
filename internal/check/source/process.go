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

// defaultBounds leave room: of the 54 packages here that are judged, the slowest takes 0.4 s on
// two busy CPUs.
func defaultBounds() *Bounds {
	return &Bounds{Memory: 2 << 30, List: 2 * time.Minute, Package: 20 * time.Second}
}

// stageName is the hidden first argument of the process. It is in ps.
const stageName = "(source)"

// Stage is the judger's side of a process, if ok, and the caller exits with the code. Main, and the
// TestMain of a package that checks source within Bounds, calls it before all else.
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
		if out.Encode(j.answer(context.Background(), r)) != nil {
			return 1, true
		}
	}
}

type exceeded struct {
	listing bool   // it did not come to judge the package
	why     string // what doing so does: "takes longer than 20 s"
}

func (e *exceeded) Error() string { return e.why }

// process is a judger that is started when it is needed, and again after it has ended.
type process struct {
	bounds  Bounds
	running *running
	often   int // how often it has exceeded the bounds
}

type running struct {
	*supervisor.Process
	ctx      context.Context
	end      context.CancelCauseFunc // ends it and all that it has started
	ask      *gob.Encoder
	answers  *gob.Decoder
	said     chan []byte // what it printed of its end
	of, list *target     // what it got last, and listed last
}

func (p *process) all(ctx context.Context, of *target) (listed []listing, failed string, err error) {
	if p.often >= mostExceeded {
		return nil, "it " + tooOften, nil
	}
	a, err := p.do(ctx, of, nil)
	if over, ok := errors.AsType[*exceeded](err); ok {
		p.often++
		return nil, "it " + over.why, nil
	}
	return a.Listed, a.Failed, err
}

// A process that has ended since lists the packages again.
func (p *process) judge(ctx context.Context, of *target, one item) (*judged, error) {
	if one.Listed > 0 && !one.Plain && (p.running == nil || p.running.list != of) {
		if _, err := p.do(ctx, of, nil); err != nil {
			return nil, err
		}
	}
	a, err := p.do(ctx, of, &one)
	return a.Judged, err
}

func (p *process) do(ctx context.Context, of *target, one *item) (a reply, err error) {
	if p.running == nil {
		if p.running, err = p.start(ctx); err != nil {
			return a, cmp.Or(ctx.Err(), error(&exceeded{true, "is not possible: " + err.Error()}))
		}
	}
	now, bound, r := p.running, p.bounds.Package, request{Judge: one}
	if one == nil {
		bound = p.bounds.List
	}
	if now.of != of {
		r.Of = of
	}
	late := time.AfterFunc(bound, func() { now.end(&exceeded{one == nil, "takes longer than " + number.Chosen(bound)}) })
	defer late.Stop()
	if now.ask.Encode(r) != nil || now.answers.Decode(&a) != nil {
		p.running = nil
		return reply{}, now.ended(p.bounds.Memory, one == nil)
	}
	if now.of = of; one == nil {
		now.list = of
	}
	if !late.Stop() { // just after it has answered: it is being ended, and Start's own goroutine waits for it
		p.running = nil
	}
	return a, nil
}

// ended is why a process has ended. One that only answers no more is ended when it is late.
func (r *running) ended(memory int64, listing bool) error {
	defer r.end(nil)
	select {
	case <-r.Done():
	case <-r.ctx.Done():
	}
	if why := context.Cause(r.ctx); why != nil {
		return why
	}
	exit, err := r.Wait()
	said := <-r.said
	switch {
	case err != nil:
		return &exceeded{listing, "failed: its process was lost: " + phrase.FirstLine(err.Error())}
	case bytes.Contains(said, []byte("out of memory")), bytes.Contains(said, []byte("cannot allocate memory")),
		bytes.Contains(said, []byte("pthread_create failed")), // there is no room for the stack of a thread
		exit.Signal == "SIGKILL":
		return &exceeded{listing, "takes more than " + number.Short(number.Bytes(float64(memory))) + " of memory"}
	}
	return &exceeded{listing, "failed: its process " + exit.String() + ": " + phrase.Clip(phrase.FirstLine(strings.TrimSpace(string(said))), 200)}
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
	ctx, end := context.WithCancelCause(ctx)
	child, err := supervisor.Start(ctx, supervisor.Spec{
		Command: []string{self, stageName, strconv.FormatInt(p.bounds.Memory, 10)}, Env: os.Environ(),
		Streams: &supervisor.Streams{In: theirs[0], Out: theirs[1], Err: theirs[2]},
	})
	if err != nil {
		end(nil)
		return nil, fmt.Errorf("start a process that judges source: %w", err)
	}
	context.AfterFunc(ctx, func() { closeAll(ours[:2]) }) // also what is being sent, and waited for
	r := &running{Process: child, ctx: ctx, end: end, ask: gob.NewEncoder(ours[0]), answers: gob.NewDecoder(ours[1]), said: make(chan []byte, 1)}
	go func() {
		defer ours[2].Close()
		said, _ := io.ReadAll(io.LimitReader(ours[2], 4<<10)) // the head of a crash says why
		r.said <- said
		_, _ = io.Copy(io.Discard, ours[2])
	}()
	return r, nil
}

func (p *process) close() {
	if p.running != nil {
		p.running.end(nil)
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close() // nil is not open
	}
}

// mostExceeded is how often a run may exceed the Bounds before only syntax is judged.
const mostExceeded = 3

const tooOften = "is no longer tried, because it took too much three times"

// ask has packages judged: what exceeds the Bounds by its syntax, and if that does, as nil.
func (p *process) ask(ctx context.Context, of *target, all []item, tell func(of item, j *judged)) error {
	for n := 0; n < len(all); {
		if p.often >= mostExceeded {
			simplify(all[n:], tooOften)
		}
		found, err := p.judge(ctx, of, all[n])
		over, bounded := errors.AsType[*exceeded](err)
		switch {
		case err != nil && !bounded:
			return err
		case bounded && all[n].Plain:
			all[n].why = over.why
		case bounded:
			p.often++
			left := all[n:]
			if !over.listing {
				left = left[:1]
			}
			simplify(left, over.why)
			continue
		}
		tell(all[n], found)
		n++
	}
	return nil
}

func simplify(all []item, why string) {
	for i := range all {
		if !all[i].Plain {
			all[i].Plain, all[i].why = true, why
		}
	}
}
