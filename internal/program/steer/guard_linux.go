//go:build !portable && (amd64 || arm64)

package steer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/program/goproc"
)

const (
	// looks is how often a guard looks whether the program is still there.
	looks = 200 * time.Millisecond
	// retry is how long a guard tries again where a program has nothing to do, or where a call is
	// late. rest is between two tries: nothing traces the program then.
	retry = time.Hour
	rest  = time.Second
)

// guard is the process of a Guard. It traces nothing itself.
func guard(m message, messages *json.Decoder, say *json.Encoder) {
	l, unsure, late := m.Loan, m.Unsure, m.Unsure
	more := make(chan Value)
	wanted, end := context.WithCancel(context.Background())
	go func() {
		defer close(more) // procfit is gone, or the value is to come back
		defer end()
		for {
			var m message
			if messages.Decode(&m) != nil || m.Request.Value.Procs == 0 {
				return
			}
			more <- m.Request.Value
		}
	}()
	if !m.Given {
		l.Idle = idle(say)
		a := answerOf(l.first(wanted))
		l.found(a.Result)
		_ = say.Encode(a) // procfit may be gone, and the value comes back then
		if unsure = a.Refusal != nil && a.Refusal.unsure(); a.err() != nil && !unsure {
			return
		}
		late = unsure && a.Refusal.Why == Late
	}
	h := hold{Loan: l, now: lent{l.Value}, unsure: unsure, late: late}
	if m.Lent != nil {
		h.now = m.Lent
	}
	tell := func(a answer) { _ = say.Encode(a) }
	if err := h.wait(wanted, more, tell); err != nil {
		tell(answerOf(Result{}, err))
		return
	}
	h.giveBack(tell)
}

// first sets the value, unless another guard lends the program one, which would come back as the
// program's own. A guard has its name before it looks, so that of two at least one finds the other.
func (l Loan) first(ctx context.Context) (Result, error) {
	others := slices.DeleteFunc(Guards(), func(pid int) bool { return pid == os.Getpid() })
	if until := LentUntil(l.PID, others); !until.IsZero() {
		return Result{}, &Refusal{l.PID, Lent, until.Local().Format("15:04")}
	}
	return Set(ctx, l.Request)
}

// lent are the values of a loan that the program may use now: more than one where it is
// unsure which of the last two it has.
type lent []Value

func (list lent) in(live goproc.Live) bool {
	return slices.ContainsFunc(list, func(v Value) bool { return v.in(live) })
}

// found has a loan give back what its first call found, which may have been set after before was
// read: while somebody was asked, or while the call waited.
func (l *Loan) found(r Result) {
	if !l.Before.Auto && r.Old > 0 {
		l.Before.Procs = r.Old
	}
}

// hold is a loan as its guard has it.
type hold struct {
	Loan
	now    lent
	unsure bool // a call may have set its value
	// late: a tracer that this guard has not seen end may set the value yet.
	late bool
}

// wait lends further values, until the value is to come back. An error is that the program
// is gone. After a call of which it is unsure what it did, nothing further is lent.
func (h *hold) wait(wanted context.Context, more <-chan Value, say func(answer)) error {
	end, look := time.NewTimer(h.For), time.NewTicker(looks)
	defer end.Stop()
	defer look.Stop()
	for !h.unsure {
		select {
		case v, ok := <-more:
			if !ok {
				return nil
			}
			a := answerOf(Set(wanted, Request{Program: h.Program, Value: v}))
			switch {
			case a.err() == nil:
				h.now = lent{v}
			case a.Refusal != nil && a.Refusal.unsure():
				h.now, h.unsure, h.late = append(h.now, v), true, a.Refusal.Why == Late
			}
			say(a)
		case <-end.C:
			return nil
		case <-look.C:
			if err := h.same(); err != nil && Because(err) != Unreadable {
				return err
			}
		}
	}
	return nil
}

// giveBack sets the value before, unless the program is another one or uses a value that
// something else has set. Where a value of the loan may be set yet, it waits until the tracer is
// gone that was to do so, and no longer: the same value is somebody else's from then on.
func (h *hold) giveBack(say func(answer)) {
	var cache goproc.Cache
	back := Request{Program: h.Program, Value: h.Before}
	told, began := false, time.Now()
	for ; time.Since(began) < retry || h.late && tracedBy(h.PID) != 0; time.Sleep(rest) {
		if err := h.same(); err != nil && Because(err) != Unreadable {
			say(answerOf(Result{}, err))
			return
		}
		// Asked before the value is read, which a tracer may set in between. One that has not attached
		// to the program within its own limits never does.
		yet := h.late && (tracedBy(h.PID) != 0 || time.Since(began) < callLimit)
		live, err := cache.Live(h.PID)
		if err == nil && !h.now.in(live) {
			if yet {
				continue
			}
			say(h.changed(live))
			return
		}
		var r Result
		if err == nil {
			r, err = back.send(context.Background()) // also where nobody waits for it
		}
		if err == nil {
			say(answerOf(r, nil))
			return
		}
		if !told {
			a := answerOf(r, err)
			a.Trying, told = true, true
			say(a)
		}
	}
}

// changed is the answer for a program that does not use the value of the loan any more: it has
// its old one, as where a guard was killed after it had given that back, or a third one.
func (l Loan) changed(live goproc.Live) answer {
	if !l.Before.in(live) {
		return answerOf(Result{}, &Refusal{l.PID, Taken, fmt.Sprint(live.Procs)})
	}
	return answerOf(Result{Old: live.Procs, New: live.Procs, Auto: follows(live)}, nil)
}

// follows is whether the runtime follows the limits; nil: not known, or it never does.
func follows(live goproc.Live) *bool {
	if live.Custom == nil {
		return nil
	}
	return new(!*live.Custom)
}

// in reports whether a program uses the value, as it does until something else is set.
func (v Value) in(live goproc.Live) bool {
	if live.Custom != nil && *live.Custom == v.Auto {
		return false
	}
	return v.Auto || live.Procs == v.Procs
}
