// Package auto sets GOMEMLIMIT to match the program's memory limits when it is imported:
//
//	import _ "github.com/procfit/procfit/maxprocs/memlimit/auto"
//
// It replaces the blank import of github.com/KimMachineGun/automemlimit. It sets 90% of
// the tightest limit of the program's cgroups, and follows that limit in a goroutine, as
// memlimit.Watch does. Without a limit, with GOMEMLIMIT in the environment, and outside Linux
// it changes nothing and starts no goroutine.
//
// It prints one line to standard error with what it did and why. To print nothing, to use
// another share or a headroom, or to get the error, call memlimit.Start at the beginning
// of main instead.
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
