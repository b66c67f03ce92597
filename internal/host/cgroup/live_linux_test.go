package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The test binary plays other parts when this is set: see TestMain.
const partEnv = "PROCFIT_TEST_PART"

func TestMain(m *testing.M) {
	switch part, argument, _ := strings.Cut(os.Getenv(partEnv), " "); part {
	case "spin": // in the group of the argument, until killed
		if err := write(argument, "0"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("in")
		//lint:ignore SA5002 It uses a CPU until it is killed.
		for {
		}
	case "spurt":
		spurt(argument)
	case "own": // a procfit: it makes a group with a process inside, and waits
		p, err := Find()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		g, err := p.New()
		if err == nil {
			_, err = startPart("spin " + g.ProcsFile())
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(g.Dir())
		time.Sleep(time.Hour)
	case "find":
		_, err := Find()
		fmt.Println(err)
		os.Exit(0)
	case "denied":
		fmt.Println(Denied())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// cpuTime is what a process used so far (clock_getcpuclockid(3)).
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	const scheduled = 2 // as the scheduler counts, in nanoseconds
	var used unix.Timespec
	must.OK(t, unix.ClockGettime(int32(^pid<<3|scheduled), &used))
	return time.Duration(used.Nano())
}

type part struct {
	*exec.Cmd
	line string // the first that it printed
}

// startPart starts the test binary in another part and waits for its first line.
func startPart(name string, attributes ...func(*exec.Cmd)) (*part, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), partEnv+"="+name)
	for _, set := range attributes {
		set(cmd)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return &part{cmd, strings.TrimSpace(line)}, err
}

func start(t *testing.T, name string, attributes ...func(*exec.Cmd)) *part {
	t.Helper()
	p, err := startPart(name, attributes...)
	if p != nil {
		t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// hostMode is how this machine's cgroups are mounted: v1, v2, hybrid or none.
func hostMode() string {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "none"
	}
	return mode(parseMounts(mountinfo))
}

// find is Find where a group can be made.
func find(t *testing.T) *Parent {
	t.Helper()
	p, err := Find()
	if err != nil {
		if os.Geteuid() == 0 && hostMode() != "none" {
			t.Fatal(err)
		}
		need.Skip(t, err.Error())
	}
	if got, want := fmt.Sprintf("v%d in %s", p.version, hostMode()), os.Getenv("PROCFIT_TEST_CGROUP"); want != "" && want != got {
		t.Fatalf("groups are made on %s, want %s", got, want)
	}
	return p
}

func newGroup(t *testing.T, p *Parent) *Group {
	t.Helper()
	g := must.Get(p.New())(t)
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func TestQuotaHolds(t *testing.T) {
	g := newGroup(t, find(t))
	const quota = 0.2
	must.OK(t, g.SetQuota(quota))
	must.OK(t, g.SetShares(maxShares)) // else a busy machine gives it less than its quota
	child := start(t, "spin "+g.ProcsFile())
	if child.line != "in" {
		t.Fatal(child.line)
	}
	begin, before := time.Now(), cpuTime(t, child.Process.Pid)
	var stats Stats
	// A spinning child is throttled in every period in which it gets its 20 ms.
	// The kernel charges late, on an emulated CPU later still, and makes up for it
	// afterwards: hence the while. It adds the time once the child may run again.
	for stats.ThrottledPeriods < 3 || stats.Throttled == 0 || time.Since(begin) < 1500*time.Millisecond {
		if time.Since(begin) > time.Minute {
			t.Fatalf("throttled in only %d periods, for %v, after a minute", stats.ThrottledPeriods, stats.Throttled)
		}
		time.Sleep(20 * time.Millisecond)
		var err error
		if stats, err = g.Stats(); err != nil {
			t.Fatal(err)
		}
	}
	if stats.Periods < stats.ThrottledPeriods || stats.Throttled < 0 {
		t.Errorf("counters do not fit together: %+v", stats)
	}
	// Without the quota the ratio would be near 1.
	wall, used := time.Since(begin), cpuTime(t, child.Process.Pid)-before
	if ratio := used.Seconds() / (wall + Period).Seconds(); ratio > 2.5*quota {
		t.Errorf("used %v of CPU in %v: %.2f CPUs under a quota of %v", used, wall, ratio, quota)
	}
	must.OK(t, g.Kill())
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the child ended with %v, want SIGKILL", err)
	}
}

// What a group sets is read back; two groups of which one has four times the shares of the
// other, on one CPU, get CPU time in about that ratio.
func TestSharesHold(t *testing.T) {
	p := find(t)
	var used []time.Duration
	var parts []*part
	for _, shares := range []int64{512, 2048} {
		g := newGroup(t, p)
		for _, wrong := range []int64{-1, 0, 1, 262145} {
			if err := g.SetShares(wrong); err == nil || !strings.Contains(err.Error(), "expected a number from 2 to 262144") {
				t.Errorf("%d shares: %v", wrong, err)
			}
		}
		must.OK(t, g.SetShares(shares))
		want := shares
		if g.version == 2 {
			want = shares * 100 / 1024
		}
		if w, err := ReadWeight(os.DirFS("/"), g.version, g.Dir()); err != nil || w.Value != want {
			t.Errorf("%d shares are read as %+v, %v", shares, w, err)
		}
		child := start(t, "spin "+g.ProcsFile())
		if child.line != "in" {
			t.Fatal(child.line)
		}
		parts = append(parts, child)
	}
	var one unix.CPUSet
	must.OK(t, unix.SchedGetaffinity(0, &one))
	first := 0
	for !one.IsSet(first) {
		first++
	}
	one.Zero()
	one.Set(first)
	for _, child := range parts {
		pinAll(t, child.Process.Pid, &one)
		used = append(used, -cpuTime(t, child.Process.Pid))
	}
	// They get what other programs leave of the CPU: how much each of them has is compared once
	// it is many of the scheduler's slices. In so short a time a busy machine gives the larger up
	// to seven times as much; groups whose shares were ignored would have as much as each other.
	for sum, end := time.Duration(0), time.Now().Add(time.Minute); sum < 800*time.Millisecond; {
		if time.Now().After(end) {
			t.Fatalf("only %v of CPU time in a minute", sum)
		}
		time.Sleep(50 * time.Millisecond)
		sum = used[0] + used[1]
		for _, child := range parts {
			sum += cpuTime(t, child.Process.Pid)
		}
	}
	for i, child := range parts {
		used[i] += cpuTime(t, child.Process.Pid)
	}
	if ratio := used[1].Seconds() / used[0].Seconds(); ratio < 2 || ratio > 12 {
		t.Errorf("with four times the shares %v of CPU time, the other %v: %.2f times", used[1], used[0], ratio)
	}
}

// pinAll keeps all threads of a process on these CPUs.
func pinAll(t *testing.T, pid int, cpus *unix.CPUSet) {
	t.Helper()
	threads := must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)))(t)
	for _, thread := range threads {
		tid := must.Get(strconv.Atoi(thread.Name()))(t)
		if err := unix.SchedSetaffinity(tid, cpus); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// A process that leaves its cgroup is found to be outside, one that stays or has ended is
// not.
func TestQuotaLeft(t *testing.T) {
	p := find(t)
	g, other := newGroup(t, p), newGroup(t, p)
	child := start(t, "spin "+g.ProcsFile())
	pid := child.Process.Pid
	at := func(want string) {
		t.Helper()
		if got, err := g.Outside(pid); err != nil || got != want {
			t.Errorf("outside in %q, %v, want %q", got, err, want)
		}
	}
	at("")
	must.OK(t, write(other.ProcsFile(), strconv.Itoa(pid)))
	at(other.Dir())
	must.OK(t, child.Process.Kill())
	must.Until(t, "ended by SIGKILL", func() bool { return procstat.HasEnded(pid) })
	at("") // it waits to be reaped
	child.Wait()
	at("")
}

func TestQuotaBelowMinimum(t *testing.T) {
	g := newGroup(t, find(t))
	if err := g.SetQuota(0.0001); err == nil {
		t.Error("accepted")
	}
	if err := g.SetQuota(MinQuota); err != nil {
		t.Errorf("the minimum itself: %v", err)
	}
}

func TestRemoveReachesGroupsInside(t *testing.T) {
	g := newGroup(t, find(t))
	inner := filepath.Join(g.Dir(), "made", "by-the-target")
	must.OK(t, os.MkdirAll(inner, 0o755))
	child := start(t, "spin "+filepath.Join(inner, "cgroup.procs"))
	if child.line != "in" {
		t.Fatal(child.line)
	}
	must.OK(t, g.Remove())
	if exists(g.Dir()) {
		t.Errorf("%s is still there", g.Dir())
	}
	if err := g.Remove(); err != nil {
		t.Errorf("removing it twice: %v", err)
	}
}

func TestRemoveStale(t *testing.T) {
	p := find(t)
	mine := newGroup(t, p)
	living, killed := start(t, "own"), start(t, "own")
	for _, o := range []*part{living, killed} {
		t.Cleanup(func() { (&Group{p.mount, o.line}).Remove() })
		if _, _, ok := parseName(filepath.Base(o.line)); !ok {
			t.Fatalf("the owner says %q", o.line)
		}
	}
	foreign := filepath.Join(p.Dir(), owner{namespace: 1, pid: 1, start: 1}.group(1))
	must.OK(t, os.Mkdir(foreign, 0o755))
	defer os.Remove(foreign)
	killed.Process.Kill()
	for alive(mustParse(t, killed.line)) {
		time.Sleep(time.Millisecond)
	}
	must.Get(p.RemoveStale())(t)
	for dir, want := range map[string]bool{mine.Dir(): true, living.line: true, foreign: true, killed.line: false} {
		if exists(dir) != want {
			t.Errorf("%s: exists %v, want %v", dir, !want, want)
		}
	}
}

func mustParse(t *testing.T, dir string) owner {
	o, _, ok := parseName(filepath.Base(dir))
	if !ok {
		t.Fatalf("%s is no group of ours", dir)
	}
	return o
}

// A start time of another process with the same PID means that the owner is
// gone.
func TestAliveKnowsProcessFromPID(t *testing.T) {
	self := must.Get(thisProcess())(t)
	if !alive(self) {
		t.Error("this process is not alive")
	}
	self.start--
	if alive(self) {
		t.Error("another start time is alive")
	}
}

// An ordinary account gets this error from Denied, too, and root does not.
func TestOrdinaryUserIsAdvised(t *testing.T) {
	need.Root(t)
	for _, part := range []string{"find", "denied"} {
		out := start(t, part, func(c *exec.Cmd) {
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		})
		if !strings.Contains(out.line, "permission denied") || !strings.Contains(out.line, "root") {
			t.Errorf("%s: error %q does not say what to do", part, out.line)
		}
	}
	if err := find(t).advise(fs.ErrPermission); strings.Contains(err.Error(), "as root") || !strings.Contains(err.Error(), "even root") {
		t.Errorf("root is advised: %v", err)
	}
	if err := Denied(); err != nil {
		t.Errorf("root can make groups here, and yet: %v", err)
	}
}

func TestGroupGone(t *testing.T) {
	g := newGroup(t, find(t))
	must.OK(t, g.Remove())
	if _, err := g.Stats(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stats of a removed group: %v", err)
	}
	if err := g.SetQuota(1); err == nil {
		t.Error("a removed group took a quota")
	}
}
