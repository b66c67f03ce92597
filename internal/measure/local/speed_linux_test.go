//go:build !portable

package local

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The speed is the work of all CPUs in the threads' own time. One that waited says nothing,
// unless a CPU limit made it wait.
func TestSpeedOf(t *testing.T) {
	const ms = time.Millisecond
	ran, waited := work{60, 30 * ms, 31 * ms}, work{30, 30 * ms, 60 * ms}
	for name, tc := range map[string]struct {
		works      []work
		limited    float64
		known      float64
		speed, own float64
	}{
		"alone":                               {[]work{ran, ran}, 1, 0, 2000, 2000},
		"slower than before":                  {[]work{ran, ran}, 1, 3000, 2000, 2000},
		"one CPU is slower":                   {[]work{ran, {30, 30 * ms, 30 * ms}}, 1, 0, 1500, 1500},
		"others take a CPU":                   {[]work{ran, waited}, 1, 3000, 0, 3000},
		"a CPU that may not be used":          {[]work{ran, {}}, 1, 3000, 0, 3000},
		"a limit that nothing waits for":      {[]work{ran, ran}, 0.5, 0, 1000, 2000},
		"a limit that was waited for":         {[]work{waited, waited}, 0.5, 3000, 1500, 3000},
		"a limit that was there from a start": {[]work{waited, waited}, 0.5, 0, 500, 0},
	} {
		if speed, own := speedOf(tc.works, tc.limited, tc.known); math.Abs(speed-tc.speed) > 1e-9 || math.Abs(own-tc.own) > 1e-9 {
			t.Errorf("%s: %g and %g without the limit, want %g and %g", name, speed, own, tc.speed, tc.own)
		}
	}
}

// The work of this machine is counted on each of its CPUs, however busy they are, for the
// thread's own time; afterwards the thread may run where it could before.
func TestWorkOn(t *testing.T) {
	all := topology.Allowed()
	for _, cpu := range all {
		if w := workOn(t.Context(), cpu, walk()); w.pieces == 0 || w.used < speedTime || w.took < w.used-time.Millisecond {
			t.Errorf("on CPU %d: %+v", cpu, w)
		}
	}
	if w := workOn(t.Context(), 1023, walk()); w != (work{}) {
		t.Errorf("on a CPU that is not there: %+v", w)
	}
	if now := topology.Allowed(); !slices.Equal(now, all) {
		t.Errorf("it may run on %v, before on %v", now, all)
	}
}

// The same machine has about the same speed each time, for the time of a piece of work.
func TestSpeed(t *testing.T) {
	machine := machineOn(t, topology.Allowed())
	machine.Speed(t.Context())
	for range 5 { // others may start meanwhile, and take the caches
		best, least := 0.0, math.Inf(1)
		for range 10 {
			x := known(t, machine)
			best, least = max(best, x), min(least, x)
		}
		t.Logf("from %.0f to %.0f pieces per second", least, best)
		if best <= 2*least {
			return
		}
	}
	t.Error("the speed was never the same for the time of ten measurements")
}

// neighbours runs this test binary as programs that keep CPUs busy, until the test calls
// what is returned.
func neighbours(t *testing.T, kind string, cpus ...int) (stop func()) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	var all []*exec.Cmd
	stop = func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		all = nil
	}
	t.Cleanup(stop) // a test that ends early leaves none behind
	for _, cpu := range cpus {
		cmd := exec.Command(self, neighbourArgument, kind, strconv.Itoa(cpu))
		must.OK(t, cmd.Start())
		all = append(all, cmd)
	}
	time.Sleep(500 * time.Millisecond)
	return stop
}

// neighbourArgument makes this test binary a neighbour.
const neighbourArgument = "(neighbour)"

func init() {
	if len(os.Args) == 4 && os.Args[1] == neighbourArgument {
		playNeighbour(os.Args[2], os.Args[3])
	}
}

// playNeighbour counts, or copies memory, on one CPU until it is killed.
func playNeighbour(kind, cpu string) {
	runtime.LockOSThread()
	n, _ := strconv.Atoi(cpu)
	var only unix.CPUSet
	only.Set(n)
	_ = unix.SchedSetaffinity(0, &only)
	from, to := make([]byte, 128<<20), make([]byte, 128<<20)
	for {
		if kind == "memory" {
			copy(to, from)
		}
	}
}

// machineOn is a runner whose target and load have these CPUs.
func machineOn(t *testing.T, cpus []int) plan.Machine {
	t.Helper()
	need.Everything(t, "times this machine, which has to be quiet for it; TestSpeedOf and TestWorkOn prove the logic")
	spec := overheadSpec(t)
	spec.Target.CPUs, spec.Load.CPUs = cpus, cpus
	made := must.Get(New(spec, Config{}))(t)
	t.Cleanup(func() { made.Close() })
	return made.(plan.Machine)
}

// known waits for a speed that is: where others take the CPUs just now, it is not.
func known(t *testing.T, m plan.Machine) float64 {
	t.Helper()
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
		if x := m.Speed(t.Context()); x > 0 {
			return x
		}
	}
	t.Skip("other programs take the CPUs all the time, so that the speed is not known")
	return 0
}

func middleSpeed(t *testing.T, m plan.Machine) float64 {
	t.Helper()
	var list []float64
	for range 9 {
		list = append(list, known(t, m))
	}
	return slices.Sorted(slices.Values(list))[4]
}

// A neighbour on another CPU that takes the caches and the memory's bandwidth takes no CPU
// time of the target, but the machine is slower. How much a neighbour takes depends on the
// machine, so the test first asks how much slower memory itself is next to it.
func TestSpeedNextToAStreamOfMemory(t *testing.T) {
	cpus := topology.Allowed()
	if len(cpus) < 2 {
		need.Skip(t, "one CPU: the neighbour would share it")
	}
	machine := machineOn(t, cpus[:1])
	taken := false
	for range 5 { // another guest of the host may take them first
		memory, alone := memorySpeed(), middleSpeed(t, machine)
		stop := neighbours(t, "memory", cpus[1])
		memoryNext, next := memorySpeed(), middleSpeed(t, machine)
		stop()
		t.Logf("memory at %.2f of its speed next to the neighbour, the work at %.2f", memoryNext/memory, next/alone)
		if next < 0.95*alone {
			return
		}
		taken = taken || memoryNext < 0.75*memory
	}
	if !taken {
		t.Skip("a neighbour that copies memory does not make memory slower on this machine")
	}
	t.Error("a neighbour that copies memory made memory slower, and the work was never slower")
}

// memorySpeed is how fast the words of the work alone are walked over: the middle of
// several, in rounds per second of the thread's own time.
func memorySpeed() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	words, at := walk(), uint32(0)
	var list []float64
	for range 9 {
		began := threadCPU()
		for range 200_000 {
			at = words[at]
		}
		list = append(list, 1/(threadCPU()-began).Seconds())
	}
	runtime.KeepAlive(at)
	return slices.Sorted(slices.Values(list))[4]
}

// Programs that take the CPUs themselves do not make the machine slow: they are counted as
// what they are.
func TestSpeedNextToBusyPrograms(t *testing.T) {
	cpus := topology.Allowed()
	machine := machineOn(t, cpus)
	alone := middleSpeed(t, machine)
	defer neighbours(t, "count", slices.Concat(cpus, cpus)...)()
	for range 5 {
		if x := machine.Speed(t.Context()); x > 0 && x < 0.6*alone {
			t.Errorf("%.0f pieces per second alone, %.0f next to busy programs", alone, x)
		}
	}
}

// A CPU limit around procfit is a slower machine, whenever it is set.
func TestSpeedUnderALimit(t *testing.T) {
	group := must.Get(cgroups(t).New())(t)
	defer group.Remove()
	home := filepath.Join(filepath.Dir(group.Dir()), "cgroup.procs")
	enter := func(file string) {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0))
	}
	enter(group.ProcsFile())
	defer enter(home)
	machine := machineOn(t, topology.Allowed())
	cpus := float64(len(topology.Allowed()))
	free := middleSpeed(t, machine)
	must.OK(t, group.SetQuota(cpus/2))
	if limited := middleSpeed(t, machine); limited > 0.7*free || limited < 0.3*free {
		t.Errorf("%.0f pieces per second, %.0f under a limit of half the CPUs", free, limited)
	}
}
