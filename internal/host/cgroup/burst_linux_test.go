package cgroup

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// spurt is the part that works 15 ms of CPU time and then sleeps, again and again: its
// quota of 10 ms in 100 ms is enough on average, but not in the periods in which it works.
func spurt(procsFile string) {
	if err := write(procsFile, "0"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("in")
	for in := bufio.NewReader(os.Stdin); ; {
		if _, err := in.ReadByte(); err != nil {
			os.Exit(0)
		}
		for end := time.Now().Add(15 * time.Millisecond); time.Now().Before(end); {
		}
	}
}

// TestBurstHolds: what a group sets is read back, and a program that works in spurts is
// throttled less with it.
func TestBurstHolds(t *testing.T) {
	p := find(t)
	throttled, spurts := map[bool]Stats{}, 0
	for _, burst := range []bool{false, true} {
		g := newGroup(t, p)
		must.OK(t, g.SetQuota(0.1))
		must.OK(t, g.SetShares(maxShares)) // else a busy machine gives it less than its quota
		want := 0.0
		if burst {
			want = 0.1
			file := map[int]string{1: "cpu.cfs_burst_us", 2: "cpu.max.burst"}[g.version]
			must.OK(t, write(filepath.Join(g.dir, file), "10000"))
		}
		child := startSpurts(t, g)
		f, err := facts.ReadPID(child.pid)
		must.OK(t, err)
		if l, ok := f.Own(); !ok || l.CPUs != 0.1 || l.Burst.State != facts.Known || l.Burst.CPUs != want {
			t.Fatalf("set a burst of %v, read %+v, %v", want, l, ok)
		}
		// On a busy machine a spurt may not get its CPU time within a period: without a burst
		// there are as many as it takes to be throttled, and with one as many, or as it takes to
		// use it.
		for n := 0; n < 6 || !burst && n < 40 && throttled[burst].ThrottledPeriods < 4 || burst && (n < spurts || n < 40 && throttled[burst].Bursts < 4); n++ {
			time.Sleep(4 * Period) // in which the group saves up, also on an emulated machine
			child.work(t)
			if throttled[burst], err = g.Stats(); err != nil {
				t.Fatal(err)
			}
			spurts = max(spurts, n+1)
		}
		time.Sleep(3 * Period)
		if throttled[burst], err = g.Stats(); err != nil {
			t.Fatal(err)
		}
	}
	without, with := throttled[false], throttled[true]
	t.Logf("without a burst %+v, with one %+v", without, with)
	if without.Bursts != 0 || without.Burst != 0 || without.ThrottledPeriods < 3 {
		t.Errorf("without a burst: %+v", without)
	}
	if with.Bursts < 3 || with.Burst <= 0 || with.Burst > time.Duration(with.Bursts)*10*time.Millisecond+10*time.Millisecond {
		t.Errorf("with a burst: %+v", with)
	}
	// An emulated machine needs more than the burst for a spurt, and may be throttled as much with it.
	if without.Throttled <= time.Duration(without.ThrottledPeriods)*Period && with.ThrottledPeriods >= without.ThrottledPeriods && with.Throttled >= without.Throttled {
		t.Errorf("throttled in %d periods for %v without a burst, in %d for %v with one", without.ThrottledPeriods, without.Throttled, with.ThrottledPeriods, with.Throttled)
	}
}

// spurts is a started part spurt.
type spurts struct {
	pid int
	in  *os.File
}

func startSpurts(t *testing.T, g *Group) spurts {
	t.Helper()
	r, w, err := os.Pipe()
	must.OK(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	child := start(t, "spurt "+g.ProcsFile(), func(cmd *exec.Cmd) { cmd.Stdin = r })
	if child.line != "in" {
		t.Fatal(child.line)
	}
	return spurts{child.Process.Pid, w}
}

func (s spurts) work(t *testing.T) {
	t.Helper()
	must.Get(s.in.Write([]byte{'.'}))(t)
}
