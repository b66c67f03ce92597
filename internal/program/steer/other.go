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

func Stage([]string) (code int, ok bool) { return 0, false }

func Adopt() (wait func(), err error) { return func() {}, nil }

func Guards() []int { return nil }

func LentUntil(int, []int) (until time.Time) { return until }

func Identify(pid int) (Program, error) { return Program{}, unsupported(pid) }

func Set(_ context.Context, r Request) (Result, error) { return Result{}, unsupported(r.PID) }

type Guard struct{}

func Lend(_ context.Context, l Loan) (*Guard, Result, error) {
	return nil, Result{}, unsupported(l.PID)
}

func (g *Guard) Change(context.Context, Value) (Result, error) { return Result{}, unsupported(0) }

func (g *Guard) Before() Value { return Value{} }

func (g *Guard) PID() int { return 0 }

func (g *Guard) Wait(context.Context) (Result, bool, error) { return Result{}, false, nil }
