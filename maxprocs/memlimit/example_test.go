package memlimit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"runtime/debug"
	"testing/fstest"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/memlimit"
)

func ExampleSet() {
	var r memlimit.Result
	undo, err := memlimit.Set(memlimit.Ratio(0.85), memlimit.Logger(log.Printf), memlimit.Detail(&r))
	if errors.Is(err, memlimit.ErrUnreadable) {
		log.Print(err) // GOMEMLIMIT was lowered if what is known demands it, and not raised
	}
	defer undo()
	fmt.Println(r.Bytes == debug.SetMemoryLimit(-1))
	// Output: true
}

// 64 MiB for a C library instead of a tenth of the limit.
func ExampleHeadroom() {
	undo, err := memlimit.Set(memlimit.Headroom(64 << 20))
	if errors.Is(err, memlimit.ErrNoRoom) {
		log.Print(err)
	}
	undo()
	// Output:
}

func ExampleDecide() {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	m, err := facts.ReadMemoryFS(fstest.MapFS{
		"proc/self/cgroup":                   file("0::/pod/app\n"),
		"proc/self/mountinfo":                file("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
		"proc/self/environ":                  file(""),
		"sys/fs/cgroup/pod/app/cgroup.procs": file(""),
		"sys/fs/cgroup/pod/app/memory.max":   file("3221225472\n"),
		"sys/fs/cgroup/pod/memory.max":       file("2147483648\n"),
	}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(memlimit.Decide(m, memlimit.Rule{}))
	fmt.Println(memlimit.Runtime(m))
	// Output:
	// GOMEMLIMIT=1843MiB
	//   /sys/fs/cgroup/pod/app/memory.max: "3221225472" limits it to 3GiB
	//   /sys/fs/cgroup/pod/memory.max: "2147483648" limits it to 2GiB
	//   the limit of /sys/fs/cgroup/pod/memory.max is the tightest
	//   90% of it is 1843MiB
	// GOMEMLIMIT=off
	//   GOMEMLIMIT is not in its environment, and the runtime does not read memory limits
}

func ExampleParse() {
	bytes, ok := memlimit.Parse("1500MiB")
	fmt.Println(bytes, ok, memlimit.Format(bytes))
	_, ok = memlimit.Parse("1.5GB")
	fmt.Println(ok)
	// Output:
	// 1572864000 true 1500MiB
	// false
}

// A resize of the container while it runs is followed.
func ExampleWatch() {
	ctx, stop := context.WithCancel(context.Background())
	go memlimit.Watch(ctx, memlimit.Logger(log.Printf), memlimit.OnChange(func(r memlimit.Result) {
		// shrink caches to r.Bytes, say
	}))
	stop()
	// Another program: fewer checks, and a raised limit must last for a minute.
	err := memlimit.Watch(ctx, memlimit.Period(time.Second), memlimit.Hold(time.Minute))
	if !errors.Is(err, context.Canceled) {
		log.Print(err) // ErrOption; or nil: GOMEMLIMIT is in the environment
	}
	// Output:
}

// What the import of memlimit/auto does, with another share and a logger.
func ExampleStart() {
	if err := memlimit.Start(context.Background(), memlimit.Ratio(0.8), memlimit.Logger(log.Printf)); err != nil {
		log.Print(err) // not all limits could be read
	}
	// Output:
}
