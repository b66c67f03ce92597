//go:build !linux || portable || !(amd64 || arm64)

package steer

import (
	"context"
	"runtime"
	"time"
)

// Supported reports whether this procfit can call programs on this machine.
const Supported = false

func unsupported(pid int) error {
	return &Refusal{pid, Unsupported, "calls from outside need Linux on amd64 or arm64, and this is " + runtime.GOOS + "/" + runtime.GOARCH}
}

// Stage does nothing here.
func Stage([]string) (code int, ok bool) { return 0, false }

// Adopt has nothing to wait for here.
func Adopt() (wait func(), err error) { return func() {}, nil }

// Guards are none here.
func Guards() []int { return nil }

// LentUntil is nothing here.
func LentUntil(int, []int) (until time.Time) { return until }

// Identify needs Linux.
func Identify(pid int) (Program, error) { return Program{}, unsupported(pid) }

// Set needs Linux.
func Set(_ context.Context, r Request) (Result, error) { return Result{}, unsupported(r.PID) }

// Guard needs Linux.
type Guard struct{}

// Lend needs Linux.
func Lend(_ context.Context, l Loan) (*Guard, Result, error) {
	return nil, Result{}, unsupported(l.PID)
}

// Change does nothing here.
func (g *Guard) Change(context.Context, Value) (Result, error) { return Result{}, unsupported(0) }

// Before is nothing here.
func (g *Guard) Before() Value { return Value{} }

// PID is the guard's process.
func (g *Guard) PID() int { return 0 }

// Wait does nothing here.
func (g *Guard) Wait(context.Context) (Result, bool, error) { return Result{}, false, nil }
