//go:build !portable && (amd64 || arm64)

package steer

import (
	"encoding/json"
	"fmt"
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
	l, unsure := m.Loan, m.Unsure
	if !m.Given {
		a := answerOf(Set(l.Request))
		_ = say.Encode(a) // procfit may be gone, and the value comes back then
		if unsure = a.Refusal != nil && a.Refusal.unsure(); a.err() != nil && !unsure {
			return
		}
	}
	now := make(chan struct{})
	go func() {
		var m message
		_ = messages.Decode(&m) // that the value is to come back, or that procfit is gone
		close(now)
	}()
	if err := l.hold(now); err != nil {
		_ = say.Encode(answerOf(Result{}, err))
		return
	}
	l.giveBack(unsure, func(a answer) { _ = say.Encode(a) })
}

// hold waits until the value is to come back. An error is that the program is gone.
func (l Loan) hold(now <-chan struct{}) error {
	end, look := time.NewTimer(l.For), time.NewTicker(looks)
	defer end.Stop()
	defer look.Stop()
	for {
		select {
		case <-now:
			return nil
		case <-end.C:
			return nil
		case <-look.C:
			if err := l.same(); err != nil && Because(err) != Unreadable {
				return err
			}
		}
	}
}

// giveBack sets the value before, unless the program is another one or uses a value that
// something else has set. While it is unsure whether the value of the loan was set, it may be
// set yet, at the latest when the tracer is gone that was to do so.
func (l Loan) giveBack(unsure bool, say func(answer)) {
	var cache goproc.Cache
	back := Request{l.Program, l.Before}
	told := false
	for end := time.Now().Add(retry); time.Now().Before(end) || unsure && tracedBy(l.PID) != 0; time.Sleep(rest) {
		if err := l.same(); err != nil && Because(err) != Unreadable {
			say(answerOf(Result{}, err))
			return
		}
		live, err := cache.Live(l.PID)
		if err == nil && !l.Value.in(live) {
			if unsure {
				continue
			}
			say(l.changed(live))
			return
		}
		var r Result
		if err == nil {
			r, err = Set(back)
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
	r := Result{Old: live.Procs, New: live.Procs}
	if live.Custom != nil {
		auto := !*live.Custom
		r.Auto = &auto
	}
	return answerOf(r, nil)
}

// in reports whether a program uses the value, as it does until something else is set.
func (v Value) in(live goproc.Live) bool {
	if live.Custom != nil && *live.Custom == v.Auto {
		return false
	}
	return v.Auto || live.Procs == v.Procs
}
