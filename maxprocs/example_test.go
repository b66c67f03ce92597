package maxprocs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"runtime"
	"time"

	"github.com/procfit/procfit/maxprocs"
)

// With options, a line in the log, and an undo.
func ExampleSet_options() {
	var r maxprocs.Result
	undo, err := maxprocs.Set(
		maxprocs.Max(16),
		maxprocs.Reserve(1), // for a sidecar
		maxprocs.Logger(log.Printf),
		maxprocs.Detail(&r),
	)
	if err != nil {
		log.Print(err) // not all limits could be read; GOMAXPROCS was not raised
	}
	defer undo()
	fmt.Println(r.Procs == runtime.GOMAXPROCS(0))
	// Output: true
}

// What becomes of a part of a CPU: under a limit of 2.5 CPUs the default, Ceil, is 3
// Ps; these are 2, 3 and 2.
func ExampleRound() {
	for _, option := range []maxprocs.Option{
		maxprocs.Round(maxprocs.Floor),
		maxprocs.Threshold(0.5),
		maxprocs.RoundQuotaFunc(func(cpus float64) int { return int(math.RoundToEven(cpus)) }),
	} {
		undo, _ := maxprocs.Set(option, maxprocs.Min(1))
		undo()
	}
	// Output:
}

// As long as the program runs, in a goroutine of its own.
func ExampleWatch() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- maxprocs.Watch(ctx,
			maxprocs.Period(time.Minute),
			maxprocs.Hold(5*time.Minute),
			maxprocs.Max(16),
			maxprocs.OnChange(func(r maxprocs.Result) { log.Print(r) }),
		)
	}()
	cancel()
	err := <-done
	fmt.Println(err == nil || err == context.Canceled) // nil where the environment decides
	// Output: true
}

// What the import of package auto does, at the beginning of main, with a line in the
// log and the error.
func ExampleStart() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := maxprocs.Start(ctx, maxprocs.Logger(log.Printf))
	if errors.Is(err, maxprocs.ErrPermission) {
		log.Print(err) // what limits it may not be read here; GOMAXPROCS was not raised
	}
	// Output:
}
