package procstat

import (
	"math"
	"time"
)

// FaultUse is what page faults that read from a disk did to processes over a span. In Go a
// thread in a page fault keeps its P, as no system call has begun: nothing else can run on
// that P until the page is there.
type FaultUse struct {
	Duration time.Duration
	// Held is how long threads waited in page faults, summed over threads; without the wait
	// for a CPU afterwards. By Little's law Held ÷ Duration is how many Ps they hold, on
	// average.
	Held time.Duration
	// Hidden counts processes that had major faults and whose threads could not be looked
	// at; what they held is missing from Held.
	Hidden int
}

// Ps is how many Ps page faults held on average; false where that is not known.
func (u FaultUse) Ps() (held float64, known bool) {
	if u.Duration <= 0 || u.Hidden > 0 {
		return 0, false
	}
	return u.Held.Seconds() / u.Duration.Seconds(), true
}

func sumFaults(all map[Identity]FaultUse) (sum FaultUse) {
	for _, u := range all {
		sum.Duration = max(sum.Duration, u.Duration)
		sum.Held += u.Held
		sum.Hidden += u.Hidden
	}
	return sum
}

// inFault reports what /proc/PID/task/TID/syscall says of a thread: asleep in a page
// fault, or asleep at all. The number of the system call is -1 for a thread that blocks
// outside of one, and "running" stands for any that wants a CPU
// (Documentation/filesystems/proc.rst, proc_pid_syscall(5)).
func inFault(b []byte) (fault, asleep bool) {
	text := string(b[:min(len(b), 8)])
	fault = len(text) > 2 && text[:3] == "-1 "
	return fault, fault || text != "" && text[0] >= '0' && text[0] <= '9'
}

type faulting struct {
	first, last   threadTime    // of the stretch of looks
	earlier       time.Duration // that it slept in stretches before
	looks, faults int           // how often it was found asleep, and of these in a fault
}

// threadTime is how long a thread was on a CPU or waited for one until a moment.
type threadTime struct {
	at   time.Time
	busy time.Duration
}

func (f *faulting) saw(now threadTime, fault, asleep bool) {
	if f.first.at.IsZero() {
		f.first = now
	}
	f.last = now
	if asleep {
		f.looks++
	}
	if fault {
		f.faults++
	}
}

// pause ends a stretch of looks: what follows is not added.
func (f *faulting) pause() { f.earlier, f.first, f.last = f.asleep(), threadTime{}, threadTime{} }

// asleep is how long it slept. The kernel counts a stretch on a CPU late, so that only a
// whole stretch of looks adds up.
func (f *faulting) asleep() time.Duration {
	return f.earlier + max(0, f.last.at.Sub(f.first.at)-(f.last.busy-f.first.busy))
}

// held is how long the thread waited in faults: the kernel's count of its sleep, by the
// share of looks that found it in a fault among those that found it asleep. Looks alone
// see too few: whoever looks needs a CPU, and delays the thread that would run there.
func (f *faulting) held() time.Duration {
	if f.looks == 0 {
		return 0
	}
	return time.Duration(float64(f.asleep()) * float64(f.faults) / float64(f.looks))
}

// parseBusy is the time on a CPU and the time waiting for one together.
func parseBusy(schedstat []byte) (time.Duration, error) {
	ran, wait, err := parseSchedstat(schedstat)
	const most = math.MaxInt64 / 2 // 146 years
	return time.Duration(min(ran, most) + min(wait, most)), err
}
