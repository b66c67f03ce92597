package procstat

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// What a kernel does not have of a thread is not known, and never that it had no faults.
func TestFaultsUnread(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"":                       {"syscall": "running\n", "schedstat": "1 2 3\n"},
		"no syscall":             {"schedstat": "1 2 3\n"},
		"no schedstat":           {"syscall": "running\n"},
		"a schedstat of no kind": {"syscall": "running\n", "schedstat": "?\n"},
	} {
		dir, f := t.TempDir(), newFaulter(Stat{})
		must.OK(t, os.Mkdir(filepath.Join(dir, "7"), 0o700))
		for file, text := range files {
			must.OK(t, os.WriteFile(filepath.Join(dir, "7", file), []byte(text), 0o600))
		}
		if f.lookIn(dir); f.hidden != (name != "") || len(f.threads) > 0 == f.hidden {
			t.Errorf("%s: hidden %v, %d threads", name, f.hidden, len(f.threads))
		}
	}
}

const (
	programTime = 2 * time.Second
	coldBytes   = 64 << 20
)

// program is what a test watches: it says that it is ready, waits for a line, does what
// the kind says on each P, and prints how many of its Ps page faults held, by its own
// clocks: the time of each touch of a page, without what its thread ran or waited for a CPU.
func program(kind, file string) {
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	do, ok := kinds(file)[kind]
	if !ok {
		fmt.Println("no kind", kind)
		return
	}
	var held atomic.Int64
	began := time.Now()
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			runtime.LockOSThread() // so that no other goroutine takes part in a touch
			for time.Since(began) < programTime {
				held.Add(int64(do()))
			}
		})
	}
	all.Wait()
	fmt.Printf("%.4f\n", time.Duration(held.Load()).Seconds()/time.Since(began).Seconds())
}

// kinds are the programs, by name: each a step, and how long a page fault held it.
func kinds(file string) map[string]func() time.Duration {
	fd, m := cold(file)
	var mu sync.Mutex
	idle := func(f func()) func() time.Duration { return func() time.Duration { f(); return 0 } }
	burnFor := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end); {
		}
	}
	touch := func() time.Duration {
		var at time.Time
		busy := threadBusy()
		for ran := busy; ; ran = busy { // until it was not preempted between the two clocks
			at, busy = time.Now(), threadBusy()
			if busy-ran < 200*time.Microsecond && time.Since(at) < 200*time.Microsecond {
				break
			}
		}
		sink.Add(uint64(m[rand.IntN(coldBytes>>12)<<12]))
		return time.Since(at) - (threadBusy() - busy)
	}
	return map[string]func() time.Duration{
		"faults": touch,
		"half":   func() time.Duration { burnFor(2 * time.Millisecond); return touch() },
		"read":   idle(func() { b := make([]byte, 4096); unix.Pread(fd, b, rand.Int64N(coldBytes>>12)<<12) }),
		"write": idle(func() {
			f, _ := os.CreateTemp(filepath.Dir(file), "w")
			f.Write(make([]byte, 1<<16))
			f.Sync()
			f.Close()
			os.Remove(f.Name())
		}),
		"spin":  idle(func() { burnFor(time.Millisecond) }),
		"sleep": idle(func() { time.Sleep(time.Millisecond) }),
		"alloc": idle(func() { b := make([]byte, 1<<20); b[rand.IntN(len(b))] = 1; sink.Add(uint64(b[7])) }),
		"lock":  idle(func() { mu.Lock(); burnFor(100 * time.Microsecond); mu.Unlock() }),
		"pipe": idle(func() {
			r, w, _ := os.Pipe()
			w.Write([]byte{1})
			io.ReadFull(r, make([]byte, 1))
			r.Close()
			w.Close()
		}),
		"listen":   idle(func() { l, _ := net.Listen("tcp", "127.0.0.1:0"); l.Close() }),
		"process":  idle(func() { exec.Command("/bin/true").Run() }),
		"channels": idle(func() { c := make(chan int); go func() { c <- 1 }(); <-c }),
	}
}

var sink atomic.Uint64

// threadBusy is this thread's time on a CPU, to the nanosecond, and waiting for one.
func threadBusy() time.Duration {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	b, err := readOnce("/proc/thread-self/schedstat")
	if err != nil {
		panic(err)
	}
	_, wait, err := parseSchedstat(b)
	if err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano() + wait)
}

// cold opens a file of which nothing is in memory, and maps it.
func cold(file string) (fd int, m []byte) {
	fd, err := unix.Open(file, unix.O_RDWR, 0)
	if err == nil {
		unix.Fsync(fd)
		err = unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)
	}
	if err == nil {
		m, err = unix.Mmap(fd, 0, coldBytes, unix.PROT_READ, unix.MAP_SHARED)
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

// slowDisk makes a cgroup in which the disk of a folder answers so many reads a second.
func slowDisk(t *testing.T, folder string, reads int) (procsFile string) {
	t.Helper()
	const root = "/sys/fs/cgroup/blkio"
	if _, err := os.Stat(root + "/blkio.throttle.read_iops_device"); err != nil || os.Geteuid() != 0 {
		need.Skip(t, "needs root and the blkio controller of cgroup v1, to slow down a disk")
	}
	var st unix.Stat_t
	must.OK(t, unix.Stat(folder, &st))
	dir := fmt.Sprintf("%s/procfit-test-%d", root, os.Getpid())
	must.OK(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() {
		for range 100 {
			if os.Remove(dir) == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%s cannot be removed", dir)
	})
	limit := fmt.Sprintf("%d:%d %d", unix.Major(st.Dev), unix.Minor(st.Dev), reads)
	if err := os.WriteFile(dir+"/blkio.throttle.read_iops_device", []byte(limit), 0); err != nil {
		need.Skip(t, "the disk of "+folder+" cannot be slowed down: "+err.Error())
	}
	return dir + "/cgroup.procs"
}

// watched runs a program to its end, and returns what it says, what the watch saw, and what
// a watch of all processes of the machine saw of it.
func watched(t *testing.T, kind, file string, procs int, procsFile string) (truth float64, seen, among FaultUse) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "PROCSTAT_PROGRAM="+kind+" "+file, fmt.Sprintf("GOMAXPROCS=%d", procs))
	cmd.Stderr = os.Stderr
	c := child.Start(t, cmd)
	defer c.End()
	defer c.Process.Kill()
	if line := c.Line(); line != "ready" {
		t.Fatalf("%s: %q", kind, line)
	}
	if procsFile != "" {
		must.OK(t, os.WriteFile(procsFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0))
	}
	pids := []int{cmd.Process.Pid}
	w, many := watchFaults(func() []int { return pids }), WatchMany(everybody(t))
	must.Get(io.WriteString(c.In, "\n"))(t)
	line := c.Line()
	seen = sumFaults(w.Stop())
	for id, use := range many.Stop() {
		if id.PID == cmd.Process.Pid {
			among = use
		}
	}
	truth, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if err != nil {
		t.Fatalf("%s: %q", kind, line)
	}
	return truth, seen, among
}

// everybody is the stat of all processes.
func everybody(t *testing.T) (stats []Stat) {
	t.Helper()
	all := must.Get(IDs("/proc"))(t)
	for _, pid := range all {
		if s, err := ReadStat(pid); err == nil {
			stats = append(stats, s)
		}
	}
	return stats
}

func coldFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cold")
	must.OK(t, os.WriteFile(file, make([]byte, coldBytes), 0o600))
	return file
}

// TestFaultsBeforeTheLooks: faults that nobody looked at are taken to be like the others, but
// many of them are not taken to be like a few.
func TestFaultsBeforeTheLooks(t *testing.T) {
	f := newFaulter(Stat{})
	for _, by := range []uint64{0, 50, 100, 100} {
		f.rose(by)
	}
	if got := f.all(); got != 1.25 || !f.active {
		t.Errorf("50 of 250 before the looks: %v", got)
	}
	f.rose(0)
	f.rose(1000)
	if got := f.all(); got != 2 || !f.active {
		t.Errorf("1050 of 1250 before the looks: %v", got)
	}
	if got := newFaulter(Stat{}).all(); got != 1 {
		t.Errorf("none: %v", got)
	}
}

// TestHeldPs: what the watch sees of a mapped cold file is within 20% of what the
// program's own clocks say.
func TestHeldPs(t *testing.T) {
	need.Everything(t, "takes a disk for 12 s; TestFaultShare proves the estimate")
	file := coldFile(t)
	slow := slowDisk(t, filepath.Dir(file), 500)
	for _, c := range []struct {
		kind  string
		procs int
	}{{"faults", 1}, {"faults", 2}, {"faults", 6}, {"half", 2}, {"half", 6}} {
		// Where other programs take the CPUs, the program's clocks count its waits for a CPU
		// too: one of three looks has to agree.
		for try := 1; ; try++ {
			wrong := ""
			truth, seen, among := watched(t, c.kind, file, c.procs, slow)
			for by, use := range map[string]FaultUse{"alone": seen, "among all": among} {
				held, known := use.Ps()
				t.Logf("%s at GOMAXPROCS=%d, watched %s: held %.3f, by its own clocks %.3f", c.kind, c.procs, by, held, truth)
				// A program that mostly waits for a CPU faults rarely, which is no fault of the reading.
				if !known || c.kind == "faults" && truth < 0.2 || held < 0.8*truth-0.02 || held > 1.2*truth+0.02 {
					wrong = fmt.Sprintf("%s at GOMAXPROCS=%d, watched %s: held %.3f (%+v), by its own clocks %.3f", c.kind, c.procs, by, held, use, truth)
				}
			}
			if wrong == "" {
				break
			}
			if try == 3 {
				t.Error(wrong)
				break
			}
		}
	}
}

// TestNothingHeld: programs that do not fault hold nothing, whatever else they wait for.
func TestNothingHeld(t *testing.T) {
	need.Everything(t, "runs 10 programs for 2 s each; TestInFault proves how threads in a fault are recognized")
	file, ps := coldFile(t), []int{4}
	if need.Whole() {
		ps = []int{1, 4}
	}
	for _, kind := range []string{"read", "write", "spin", "sleep", "alloc", "lock", "pipe", "listen", "process", "channels"} {
		for _, procs := range ps {
			_, seen, among := watched(t, kind, file, procs, "")
			for by, use := range map[string]FaultUse{"alone": seen, "among all": among} {
				if held, known := use.Ps(); !known || held > 0.01 {
					t.Errorf("%s at GOMAXPROCS=%d, watched %s, holds %.3f: %+v", kind, procs, by, held, use)
				}
			}
		}
	}
}
