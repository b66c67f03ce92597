// Package auto makes GOMEMLIMIT fit the program's memory limits when it is imported:
//
//	import _ "github.com/procfit/procfit/maxprocs/memlimit/auto"
//
// It takes the place of the blank import of github.com/KimMachineGun/automemlimit. It
// sets nine tenths of the tightest limit of the program's cgroups, and follows that
// limit every ten seconds, in a goroutine. Without a limit, with GOMEMLIMIT in the
// environment, and outside Linux it changes nothing and starts no goroutine.
//
// It says in one line on standard error what it did and why. For no line, for another
// share, a headroom or the error, call what it calls, memlimit.Start, at the beginning
// of main.
package auto

import (
	"context"

	"github.com/procfit/procfit/maxprocs/internal/line"
	"github.com/procfit/procfit/maxprocs/memlimit"
)

func init() {
	_ = memlimit.Start(context.Background(), memlimit.Logger(func(_ string, args ...any) {
		line.Print("memlimit: " + args[0].(string))
	}))
}
