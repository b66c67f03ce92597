//go:build !linux || portable || !(amd64 || arm64)

package steer

import "runtime"

func unsupported(pid int) error {
	return &Refusal{pid, Unsupported, "calls from outside need Linux on amd64 or arm64, and this is " + runtime.GOOS + "/" + runtime.GOARCH}
}

// Stage does nothing here.
func Stage([]string) (code int, ok bool) { return 0, false }

// Set needs Linux.
func Set(r Request) (Result, error) { return Result{}, unsupported(r.PID) }

// Guard needs Linux.
type Guard struct{}

// Watch needs Linux.
func Watch(b Back) (*Guard, error) { return nil, unsupported(b.PID) }

// PID is the guard's process.
func (g *Guard) PID() int { return 0 }

// Done does nothing here.
func (g *Guard) Done() error { return nil }

// Leave does nothing here.
func (g *Guard) Leave() error { return nil }
