package procstat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, 1/USER_HZ; USER_HZ is 100 on every
// architecture that Go supports.
const tick = time.Second / 100

type Stat struct {
	PID     int
	Name    string // at most 15 bytes; any bytes
	State   byte   // R, S, D, T, t, Z (zombie), X (dead), I
	Parent  int
	User    time.Duration // CPU time of all threads, exited ones too
	System  time.Duration
	Reaped  Times // of its children that have ended and were waited for, theirs included
	Threads int
	Started uint64 // in ticks since boot; with PID it names one process
	Kernel  bool   // a thread of the kernel, which runs no program
	Exiting bool   // its end has begun

	MajorFaults uint64 // page faults of all threads that had to read from a disk
}

type Times struct{ User, System time.Duration }

// Tree is the CPU time of the process with that of its Reaped children.
func (s Stat) Tree() Times { return Times{s.User + s.Reaped.User, s.System + s.Reaped.System} }

func (t *Times) add(more Times) { t.User, t.System = t.User+more.User, t.System+more.System }

// Identity names a process for as long as the machine runs.
type Identity struct {
	PID     int
	Started uint64 // in ticks since boot
}

// Identity tells the process from others that have its PID later.
func (s Stat) Identity() Identity { return Identity{s.PID, s.Started} }

// Ended reports whether the process is over and only waits to be reaped.
func (s Stat) Ended() bool { return s.State == 'Z' || s.State == 'X' }

// ParseStat reads /proc/PID/stat (proc_pid_stat(5)). The name is in parentheses
// and may hold some itself, so it ends at the last one.
func ParseStat(b []byte) (Stat, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return Stat{}, fmt.Errorf("stat %q: no name in parentheses", clip(b))
	}
	s := Stat{Name: string(b[open+1 : end])}
	var err error
	if s.PID, err = strconv.Atoi(string(bytes.TrimSpace(b[:open]))); err != nil {
		return Stat{}, fmt.Errorf("stat %q: pid: %w", clip(b), err)
	}
	if s.PID < 1 {
		return Stat{}, fmt.Errorf("stat %q: no process has this number", clip(b))
	}
	// The fields after the name; field 3 of the manual, the state, is f[0].
	f := bytes.Fields(b[end+1:])
	if len(f) < 20 || len(f[0]) != 1 {
		return Stat{}, fmt.Errorf("stat %q: %d fields after the name, want 20 or more", clip(b), len(f))
	}
	s.State = f[0][0]
	p := numbers{fields: f}
	s.Parent = int(p.at(1, math.MaxInt32))
	s.User = time.Duration(p.at(11, maxTicks)) * tick
	s.System = time.Duration(p.at(12, maxTicks)) * tick
	s.Reaped = Times{time.Duration(p.at(13, maxTicks)) * tick, time.Duration(p.at(14, maxTicks)) * tick}
	s.Threads = int(p.at(17, math.MaxInt32))
	s.Started = p.at(19, math.MaxUint64)
	s.MajorFaults = p.at(9, math.MaxInt64)
	const kernelThread, exiting = 0x00200000, 0x00000004 // PF_KTHREAD and PF_EXITING, include/linux/sched.h
	flags := p.at(6, math.MaxUint32)
	s.Kernel, s.Exiting = flags&kernelThread != 0, flags&exiting != 0
	if p.err != nil {
		return Stat{}, fmt.Errorf("stat %q: %w", clip(b), p.err)
	}
	return s, nil
}

// maxTicks keeps CPU times within time.Duration: 292 years.
const maxTicks = uint64(math.MaxInt64 / tick)

// numbers reads fields until the first that is wrong.
type numbers struct {
	fields [][]byte
	err    error
}

func (n *numbers) at(i int, limit uint64) uint64 {
	if n.err != nil {
		return 0
	}
	v, err := strconv.ParseUint(string(n.fields[i]), 10, 64)
	if err == nil && v > limit {
		err = strconv.ErrRange
	}
	if err != nil {
		n.err = fmt.Errorf("field %d: %w", i+1, err)
		return 0
	}
	return v
}

type counters struct {
	wait                   int64 // runnable, without a CPU; ns
	voluntary, involuntary int64 // context switches
}

func parseSwitches(b []byte) (voluntary, involuntary int64, err error) {
	if voluntary, err = numberOf(b, "voluntary_ctxt_switches:"); err != nil {
		return 0, 0, err
	}
	involuntary, err = numberOf(b, "nonvoluntary_ctxt_switches:")
	return voluntary, involuntary, err
}

// valueOf is what follows a name at the beginning of a line that is not the first.
func valueOf(b []byte, name string) (string, error) {
	_, rest, ok := bytes.Cut(b, []byte("\n"+name))
	if !ok {
		return "", fmt.Errorf("no %s", strings.TrimRight(name, ": "))
	}
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(value)), nil
}

func numberOf(b []byte, name string) (int64, error) {
	value, err := valueOf(b, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s %w", strings.TrimSpace(name), err)
	}
	return int64(n), nil
}

// Tracing is what the kernel says of a thread that a tracer has to know.
type Tracing struct {
	Tracer int // the process that traces it; 0: none
	// Signals: bit 0 is signal 1. Pending are those that the thread alone is to get.
	Blocked, Ignored, Pending uint64
}

func parseTracing(b []byte) (t Tracing, err error) {
	tracer, err := numberOf(b, "TracerPid:")
	if err != nil {
		return Tracing{}, err
	}
	t.Tracer = int(tracer)
	for name, set := range map[string]*uint64{"SigBlk": &t.Blocked, "SigIgn": &t.Ignored, "SigPnd": &t.Pending} {
		value, _ := valueOf(b, name+":") // without it there is no number
		if *set, err = strconv.ParseUint(value, 16, 64); err != nil {
			return Tracing{}, fmt.Errorf("status: no signals in %s", name)
		}
	}
	return t, nil
}

// parseSchedstat reads /proc/PID/task/TID/schedstat: time on a CPU and time waiting
// for one, in ns, and time slices (Documentation/scheduler/sched-stats.rst).
func parseSchedstat(b []byte) (ran, wait int64, err error) {
	p := numbers{fields: bytes.Fields(b)}
	if len(p.fields) < 3 {
		return 0, 0, fmt.Errorf("schedstat %q: want three numbers", clip(b))
	}
	ran, wait = int64(p.at(0, math.MaxInt64)), int64(p.at(1, math.MaxInt64))
	if p.err != nil {
		return 0, 0, fmt.Errorf("schedstat %q: %w", clip(b), p.err)
	}
	return ran, wait, nil
}

// parseCPUModel reads the name of the first CPU out of /proc/cpuinfo. arm64 gives
// none there, only the implementer's and the part's numbers.
func parseCPUModel(b []byte) string {
	field := func(name string) string {
		for line := range bytes.Lines(b) {
			key, value, ok := bytes.Cut(line, []byte(":"))
			if ok && string(bytes.TrimSpace(key)) == name {
				return string(bytes.TrimSpace(value))
			}
		}
		return ""
	}
	if model := field("model name"); model != "" {
		return model
	}
	if part := field("CPU part"); part != "" {
		return "implementer " + field("CPU implementer") + " part " + part
	}
	return ""
}

// parseMemTotal reads the machine's memory out of /proc/meminfo, in bytes.
func parseMemTotal(b []byte) (int64, error) {
	n, err := sizeOf(append([]byte("\n"), b...), "MemTotal") // it is the first line
	if err != nil {
		return 0, fmt.Errorf("/proc/meminfo: %w", err)
	}
	return n, nil
}

func clip(b []byte) []byte { return b[:min(len(b), 80)] }

// Memory is what a process has of the machine's, in bytes.
type Memory struct {
	Resident int64 // now: VmRSS
	Peak     int64 // the most since exec: VmHWM
}

// parseMemory reads /proc/PID/status (proc_pid_status(5)), in which a kernel thread has
// none.
func parseMemory(b []byte) (m Memory, err error) {
	if m.Resident, err = sizeOf(b, "VmRSS"); err == nil {
		m.Peak, err = sizeOf(b, "VmHWM")
	}
	if err != nil {
		return Memory{}, fmt.Errorf("status: %w", err)
	}
	return m, nil
}

// sizeOf reads a line such as "VmRSS:    1234 kB", in bytes.
func sizeOf(b []byte, name string) (int64, error) {
	value, err := valueOf(b, name+":")
	if err != nil {
		return 0, err
	}
	number, isKB := strings.CutSuffix(value, " kB")
	kB, err := strconv.ParseUint(strings.TrimSpace(number), 10, 53)
	if err == nil && !isKB {
		err = fmt.Errorf("%q is not in kB", clip([]byte(value)))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return int64(kB) << 10, nil
}

// The fields of struct taskstats that are read (include/uapi/linux/taskstats.h),
// in bytes. The structure grows at its end, but kernels with version 15 of it
// (Linux 6.14) had fields inserted in the middle, and no version tells all such
// apart: openTaskstats compares what it reads of procfit with /proc.
const (
	offWait        = 24  // cpu_delay_total, ns
	offVoluntary   = 272 // nvcsw
	offInvoluntary = 280 // nivcsw
	taskstatsSize  = 288
)

func parseTaskstats(b []byte) (counters, error) {
	if len(b) < taskstatsSize {
		return counters{}, fmt.Errorf("taskstats: %d bytes, want %d or more", len(b), taskstatsSize)
	}
	at := func(off int) int64 {
		return int64(min(binary.NativeEndian.Uint64(b[off:]), math.MaxInt64))
	}
	return counters{wait: at(offWait), voluntary: at(offVoluntary), involuntary: at(offInvoluntary)}, nil
}

func (c counters) between(before, after counters) bool {
	in := func(low, v, high int64) bool { return low <= v && v <= high }
	return in(before.wait, c.wait, after.wait) && in(before.voluntary, c.voluntary, after.voluntary) &&
		in(before.involuntary, c.involuntary, after.involuntary)
}
