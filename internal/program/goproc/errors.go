package goproc

import (
	"errors"
	"fmt"
)

// Why a program could not be read; test with errors.Is. The errors that carry
// these say what was tried, and what to do where something can be done.
var (
	ErrNotGo       = errors.New("not a Go program")
	ErrGone        = errors.New("the process is gone")
	ErrPermission  = errors.New("permission denied")
	ErrStarting    = errors.New("the Go runtime has not started yet")
	ErrLate        = errors.New("there was no time to read its executable")
	ErrUndecodable = errors.New("runtime.gomaxprocs cannot be found in the program")
	ErrUnsupported = fmt.Errorf("reading a live process needs Linux: %w", errors.ErrUnsupported)
)
