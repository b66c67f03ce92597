//go:build linux

// Command follow prints its GOMAXPROCS whenever that changes. With the argument
// watch it calls Watch, which SIGTERM ends. SIGUSR1 calls Set, SIGUSR2 undoes
// it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/procfit/procfit/maxprocs"
)

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	last := runtime.GOMAXPROCS(0)
	fmt.Println("start", last)
	if len(os.Args) > 1 && os.Args[1] == "watch" {
		go func() {
			ended <- maxprocs.Watch(ctx, maxprocs.Period(200*time.Millisecond), maxprocs.Hold(time.Second),
				maxprocs.OnChange(func(r maxprocs.Result) {
					fmt.Println("changed", r.Before, r.Procs, "automatic", r.Action == maxprocs.Automatic)
				}))
		}()
	}
	undo := func() {}
	for {
		select {
		case s := <-signals:
			switch s {
			case syscall.SIGUSR1:
				var err error
				undo, err = maxprocs.Set(maxprocs.Logger(func(format string, args ...any) { fmt.Printf(format+"\n", args...) }))
				if err != nil {
					fmt.Println(err)
				}
			case syscall.SIGUSR2:
				undo()
				fmt.Println("undone")
			case syscall.SIGTERM:
				cancel()
			}
		case err := <-ended:
			fmt.Println("watch ended:", err)
		case <-time.After(50 * time.Millisecond):
		}
		if now := runtime.GOMAXPROCS(0); now != last {
			fmt.Println("procs", now)
			last = now
		}
	}
}
