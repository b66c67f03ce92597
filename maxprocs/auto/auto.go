// Package auto makes GOMAXPROCS fit the program's CPU limits when it is imported:
//
//	import _ "github.com/procfit/procfit/maxprocs/auto"
//
// It takes the place of go.uber.org/automaxprocs, and is never worse than the
// runtime alone. It acts only where a limit that the runtime ignores is tighter
// than the runtime's value: an ancestor's limit, and any limit before Go 1.25 or
// where the main module says go 1.24 or less. Then it follows the limits, every
// ten seconds and in a goroutine. Else it changes nothing and starts no goroutine,
// so that a runtime that follows the limit itself (Go 1.25 and later) goes on: it
// has 2 Ps under a limit of one CPU, where 1 would fit, and 6 after a resize to 6,
// where a number of ours would have ended its updates.
//
// It says in one line on standard error what it did and why, also where it changes
// nothing, and in another one what it changes later. For no line, for a logger of your
// own, other options or the error, call what it calls, maxprocs.Start, at the beginning
// of main.
//
// Packages are initialised before main: what sizes itself by GOMAXPROCS in an
// init of its own may have seen the value of before.
package auto

import (
	"context"

	"github.com/procfit/procfit/maxprocs"
	"github.com/procfit/procfit/maxprocs/internal/line"
)

func init() {
	_ = maxprocs.Start(context.Background(), maxprocs.Logger(func(_ string, args ...any) {
		line.Print("maxprocs: " + args[0].(maxprocs.Result).String())
	}))
}
