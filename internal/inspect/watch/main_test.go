package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/test/need"
)

// TestMain is also the program that the tests in a terminal start, with a role and a
// folder, where it writes its PID.
func TestMain(m *testing.M) {
	role, set := os.LookupEnv("TUI_ROLE")
	if !set {
		need.Waiting(4) // for a terminal that is drawn ten times a second
		os.Exit(m.Run())
	}
	if err := os.WriteFile(filepath.Join(os.Args[1], "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		panic(err)
	}
	w := &world{procs: 30}
	o := Options{Interval: 100 * time.Millisecond, In: os.Stdin, Out: os.Stdout, Color: os.Getenv("NO_COLOR") == "", Explain: explained, Sort: inspect.Findings}
	ctx, cancel := context.WithCancel(context.Background())
	o.Scan = func(ctx context.Context) (observe.Snapshot, error) {
		switch {
		case role == "panic in scan" && w.scans == 3:
			panic("scan is broken")
		case role == "failing" && w.scans > 2:
			return observe.Snapshot{}, errScan
		case role == "slow" && w.scans > 1:
			<-ctx.Done()
			return observe.Snapshot{}, ctx.Err()
		case role == "cancel" && w.scans == 3:
			cancel()
		case role == "panic in update" && w.scans == 3:
			snap := w.scan()
			snap.Processes[0].Findings[0].Severity = "" // no verdict can be made of it
			return snap, nil
		}
		return w.scan(), nil
	}
	if role == "panic in view" {
		nameColumn = len(columns) // which there is not
	}
	if role == "this machine" {
		scanner, err := observe.NewScanner()
		if err != nil {
			panic(err)
		}
		defer scanner.Close()
		o.Scan = func(ctx context.Context) (observe.Snapshot, error) { return scanner.Scan(ctx) }
	}
	err := Run(ctx, o)
	fmt.Printf("Run returned %v.\n", err)
	if err != nil {
		os.Exit(3)
	}
}
