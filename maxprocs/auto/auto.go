// Package auto sets GOMAXPROCS to match the program's CPU limits when it is imported:
//
//	import _ "github.com/procfit/procfit/maxprocs/auto"
//
// It replaces go.uber.org/automaxprocs and is never worse than the runtime alone. It acts
// only if a limit that the runtime ignores is tighter than the runtime's value: the limit
// of a parent cgroup, or any limit before Go 1.25 or if go.mod of the main module says go
// 1.24 or less. It then follows the limits every ten seconds, in a goroutine. Otherwise
// it changes nothing and starts no goroutine, so that a runtime that follows the limit
// itself (Go 1.25 and later) continues to do so. Under a limit of one CPU, such a runtime
// uses 2, not 1; but after a resize to 6 CPUs it uses 6, while a value that is set by
// code would end its updates. If something else replaces the value of the import, such
// as the program, go test -cpu or procfit set, the new value stays.
//
// It prints one line to standard error with what it did and why, also if it changes
// nothing, and another line for each later change. To print nothing, to use another
// logger or other options, or to get the error, call maxprocs.Start at the beginning of
// main instead.
//
// Packages are initialized before main: an init function that sizes something by
// GOMAXPROCS may see the previous value.
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
