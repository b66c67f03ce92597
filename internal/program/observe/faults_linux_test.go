package observe

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const (
	practiceTime  = 1500 * time.Millisecond
	practiceBytes = 1 << 30
)

// practice runs a program for a while after it has read a line, and prints how many steps
// it did a second. Its pages are not in memory when it starts.
func practice(kind, file string) {
	fd, m := mapped(file)
	defer unix.Close(fd)
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	var mu sync.Mutex
	spin := func(d time.Duration) {
		for used := time.Now(); time.Since(used) < d; {
		}
	}
	page := func() int { return rand.IntN(practiceBytes>>12) << 12 }
	touch := func() { steps.Add(1 + int64(m[page()])) }
	kinds := map[string]struct {
		goroutines int
		step       func()
	}{
		"faults":     {64, touch},
		"mixed":      {64, func() { touch(); spin(100 * time.Microsecond) }},
		"few":        {2, touch},
		"lock":       {64, func() { mu.Lock(); touch(); mu.Unlock() }},
		"rare":       {64, func() { spin(4 * time.Millisecond); touch() }},
		"spin":       {64, func() { spin(time.Millisecond); steps.Add(1) }},
		"sleep":      {64, func() { time.Sleep(time.Millisecond); steps.Add(1) }},
		"goroutines": {64, func() { c := make(chan int); go func() { c <- 1 }(); steps.Add(int64(<-c)) }},
	}
	began := time.Now()
	var all sync.WaitGroup
	for range kinds[kind].goroutines {
		all.Go(func() {
			for time.Since(began) < practiceTime {
				kinds[kind].step()
			}
		})
	}
	all.Wait()
	fmt.Printf("%.0f\n", float64(steps.Load())/time.Since(began).Seconds())
	io.Copy(io.Discard, os.Stdin)
}

var steps atomic.Int64

// mapped opens a file of which nothing is in memory, and maps it.
func mapped(file string) (fd int, m []byte) {
	fd, err := unix.Open(file, unix.O_RDWR, 0)
	if err == nil {
		err = unix.Fsync(fd)
	}
	if err == nil {
		err = unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)
	}
	if err == nil {
		m, err = unix.Mmap(fd, 0, practiceBytes, unix.PROT_READ, unix.MAP_SHARED)
	}
	if err == nil {
		err = unix.Madvise(m, unix.MADV_RANDOM)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return fd, m
}

// practised runs a program at GOMAXPROCS and returns its steps a second. A look at it comes
// when it runs.
func practised(t *testing.T, kind, file string, procs int, look func(pid int)) (rate float64) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "OBSERVE_ROLE=practice "+kind+" "+file, fmt.Sprintf("GOMAXPROCS=%d", procs))
	cmd.Stderr = os.Stderr
	c := child.Start(t, cmd)
	defer c.End()
	if line := c.Line(); line != "ready" {
		t.Fatalf("%s: %q", kind, line)
	}
	must.Get(io.WriteString(c.In, "\n"))(t)
	time.Sleep(practiceTime / 10)
	look(c.PID())
	line := c.Line()
	if _, err := fmt.Sscan(line, &rate); err != nil || rate == 0 {
		t.Fatalf("%s: %q: %v", kind, line, err)
	}
	return rate
}

// practiceFile has data on the disk: holes would be read without it.
func practiceFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cold")
	f := must.Get(os.Create(name))(t)
	defer f.Close()
	chunk := make([]byte, 1<<20)
	for range practiceBytes >> 20 {
		must.Get(f.Write(chunk))(t)
	}
	must.OK(t, f.Sync())
	return name
}

// TestWatchedFaults: a process without page faults is not watched, and costs no second.
func TestWatchedFaults(t *testing.T) {
	idle, _ := play(t, "leaf")
	s := must.Get(new(Reader).Subject(idle))(t)
	began := time.Now()
	if got := Watched(t.Context(), s); got.Faults != nil || time.Since(began) > watchSpan {
		t.Errorf("idle: %+v after %v", got.Faults, time.Since(began))
	}
	need.Everything(t, "writes 1 GiB and reads it for a second; TestMorePs watches with a scanner")
	practised(t, "faults", practiceFile(t), 1, func(pid int) {
		s := must.Get(new(Reader).Subject(pid))(t)
		f := Watched(t.Context(), s).Faults // on a busy machine the program may be at its end before the look is
		if f == nil || f.Held < 0.1 || f.Queued == nil {
			t.Errorf("faults: %+v", f)
		} else if *f.Queued < 1 {
			t.Errorf("%g of 64 goroutines are queued", *f.Queued)
		}
	})
}

// TestMorePs: where PF023 says that more Ps than CPUs are worth a measurement, they are
// faster, and it is right about seven of eight programs. In those that more Ps cannot help
// nothing is measured: next to other programs more threads get more CPU time.
func TestMorePs(t *testing.T) {
	need.Beyond(t, "takes a disk and the CPUs for a minute; the fixtures of PF023 prove the rule")
	file := practiceFile(t)
	cpus, right := runtime.NumCPU(), 0
	for kind, helps := range map[string]bool{
		"faults": true, "mixed": true, // the disk serves more at the same time, and CPUs are free
		"few":  false,                                                     // as many goroutines as Ps
		"lock": false,                                                     // one at a time
		"rare": false, "spin": false, "sleep": false, "goroutines": false, // the disk holds nothing
	} {
		for try := 0; ; try++ { // other programs on the CPUs make the looks differ: twice wrong is wrong
			said, now, more := looksFor(t, kind, file, cpus, helps)
			if helps {
				t.Logf("%s: %.2f times as many steps at GOMAXPROCS=%d", kind, more/now, 4*cpus)
			}
			if (said > 1) == helps && (!helps || more >= 1.1*now) {
				right++
				break
			}
			if try == 1 {
				t.Logf("%s: wrong twice", kind)
				break
			}
		}
	}
	if right < 7 {
		t.Errorf("right about %d of 8 programs", right)
	}
}

// looksFor is how many of three looks at a program say PF023, its steps per second, and
// those with four times the Ps where that should help.
func looksFor(t *testing.T, kind, file string, cpus int, helps bool) (said int, now, more float64) {
	t.Helper()
	for range 3 {
		var p Process
		rate := practised(t, kind, file, cpus, func(pid int) {
			s := newScanner(t)
			scan(t, s)
			time.Sleep(practiceTime * 2 / 3)
			p = one(t, scan(t, s), pid)
		})
		now = max(now, rate)
		if slices.Contains(rule.IDs(p.Findings), "PF023") {
			said++
		}
		held, _ := p.Last().HeldPs()
		queued, _ := p.Last().Queued()
		t.Logf("%s: %.0f steps/s, %.2f Ps held, %.2f goroutines waiting, %v", kind, rate, held, queued, rule.IDs(p.Findings))
		if helps {
			more = max(more, practised(t, kind, file, 4*cpus, func(int) {}))
		}
	}
	return said, now, more
}
