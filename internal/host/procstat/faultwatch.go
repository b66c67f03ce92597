package procstat

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	// faultLook is how far looks at threads are apart, on average; each is off by up to a
	// half, so as not to fall into step with the program.
	faultLook = 10 * time.Millisecond
	// faultGate is how far looks at the number of major faults are apart. Threads are looked
	// at only while it rises, so that a program without faults costs a read each time.
	faultGate = 100 * time.Millisecond
	// faultCost is the most of one CPU that looking may take, and gateCost counting.
	faultCost, gateCost = 0.02, 0.01
	// faultPatience is how long a watch waits for a process that can be read; then it ends,
	// as its processes have.
	faultPatience = 5 * time.Second
)

// FaultWatch looks at processes until it is stopped.
type FaultWatch struct {
	pids    func() []int
	most    time.Duration // it ends by itself after this time; 0: it does not
	machine *machineFaults
	stop    chan struct{}
	ended   chan map[Identity]FaultUse
}

// watchFaults starts to watch the processes that pids returns, which may change.
func watchFaults(pids func() []int) *FaultWatch {
	w := newWatch(pids)
	go w.run(map[Identity]*faulter{}, 0)
	return w
}

// WatchMany starts to watch processes whose stat has just been read. Where nothing on the
// machine reads pages from a disk, their number costs nothing. After a minute it ends by
// itself: nobody may ever ask for what it saw.
func WatchMany(stats []Stat) *FaultWatch {
	all, pids := make(map[Identity]*faulter, len(stats)), make([]int, len(stats))
	for i, s := range stats {
		all[s.Identity()] = newFaulter(s)
		pids[i] = s.PID
	}
	w := newWatch(func() []int { return pids })
	w.most, w.machine = time.Minute, new(machineFaults)
	w.machine.rose()
	go w.run(all, faultGate)
	return w
}

func newWatch(pids func() []int) *FaultWatch {
	return &FaultWatch{pids: pids, stop: make(chan struct{}), ended: make(chan map[Identity]FaultUse, 1)}
}

// Stop ends the watch and returns what it saw of each process.
func (w *FaultWatch) Stop() map[Identity]FaultUse {
	close(w.stop)
	return <-w.ended
}

type faulter struct {
	pid     int
	major   uint64
	active  bool // its faults rose lately, or it is new here
	hidden  bool
	threads map[int]*faulting

	watched, missed uint64 // faults while its threads were looked at, and before
}

func newFaulter(s Stat) *faulter {
	return &faulter{pid: s.PID, major: s.MajorFaults, threads: map[int]*faulting{}}
}

// run counts for the first time after the wait.
func (w *FaultWatch) run(all map[Identity]*faulter, wait time.Duration) {
	began := time.Now()
	gate, look, last := began.Add(wait), began, began // last: something could be read
	for timer := time.NewTimer(wait); ; {
		select {
		case <-w.stop:
			timer.Stop()
			w.ended <- total(all, time.Since(began))
			return
		case <-timer.C:
		}
		now := time.Now()
		if w.most > 0 && now.Sub(began) >= w.most {
			w.ended <- total(all, now.Sub(began))
			return
		}
		if !now.Before(gate) {
			alive := false
			cost := cpuTime(func() { alive = w.count(all) })
			if alive {
				last = now
			} else if now.Sub(last) > faultPatience {
				w.ended <- total(all, last.Sub(began))
				return
			}
			gate = now.Add(max(faultGate, time.Duration(float64(cost)/gateCost)))
		}
		next := gate
		now = time.Now()
		if some := active(all); len(some) > 0 {
			if !now.Before(look) {
				cost := cpuTime(func() {
					for _, f := range some {
						f.look()
					}
				})
				look = now.Add(max(faultLook/2+rand.N(faultLook), time.Duration(float64(cost)/faultCost)))
			}
			if look.Before(next) {
				next = look
			}
		}
		timer.Reset(time.Until(next))
	}
}

// cpuTime is what something costs. By the wall's clock it would cost most on a machine on
// which it has to wait for a CPU, and would be done there too rarely.
func cpuTime(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	do()
	return threadCPU() - before
}

// active are the processes that had faults lately.
func active(all map[Identity]*faulter) (list []*faulter) {
	for _, f := range all {
		if f.active {
			list = append(list, f)
		}
	}
	return list
}

// count reads the number of major faults of each process, and who has more than before;
// false where no process can be read.
func (w *FaultWatch) count(all map[Identity]*faulter) (alive bool) {
	if w.machine != nil && !w.machine.rose() {
		for _, f := range all {
			f.rest()
		}
		return true
	}
	for _, pid := range w.pids() {
		stat, err := ReadStat(pid)
		if err != nil {
			continue
		}
		alive = true
		f := all[stat.Identity()]
		if f == nil {
			f = newFaulter(stat)
			f.active = true
			all[stat.Identity()] = f
			continue
		}
		f.rose(stat.MajorFaults - min(f.major, stat.MajorFaults))
		f.major = stat.MajorFaults
	}
	return alive
}

// rose takes in how many faults there were since the last count.
func (f *faulter) rose(by uint64) {
	switch {
	case by == 0:
		f.rest()
	case f.active:
		f.watched += by
	default:
		f.missed += by
		f.active = true
	}
}

// all is how many faults there were for each one that was looked at, at most 2: those that
// came before the looks are taken to be like the others.
func (f *faulter) all() float64 {
	if f.watched == 0 {
		return 1
	}
	return 1 + min(1, float64(f.missed)/float64(f.watched))
}

// rest ends the looks at a process until its faults rise again.
func (f *faulter) rest() {
	if f.active {
		for _, t := range f.threads {
			t.pause()
		}
	}
	f.active = false
}

// machineFaults is the number of page faults of this machine that had to read from a disk.
// The kernel counts one here as it begins, and for its process as it ends.
type machineFaults struct {
	text   [16 << 10]byte // of /proc/vmstat
	count  int64
	before bool // it rose before
}

// rose reports whether the number rose since the last call or since the one before; true
// where it cannot be read.
func (m *machineFaults) rose() bool {
	f, err := os.Open("/proc/vmstat")
	if err != nil {
		return true
	}
	defer f.Close()
	size, err := io.ReadFull(f, m.text[:]) // in large reads: the kernel sums its counters for each
	if err != io.ErrUnexpectedEOF {
		return true
	}
	n, err := numberOf(m.text[:size], "pgmajfault ")
	if err != nil {
		return true
	}
	now, before := n != m.count, m.before
	m.count, m.before = n, now
	return now || before
}

func (f *faulter) look() { f.lookIn("/proc/" + strconv.Itoa(f.pid) + "/task") }

func (f *faulter) lookIn(dir string) {
	ids, err := IDs(dir)
	if err != nil {
		f.active = false
		return
	}
	for _, tid := range ids {
		own := dir + "/" + strconv.Itoa(tid)
		call, busy, err := readFault(own)
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			_, ended := os.Lstat(own)
			f.hidden = f.hidden || ended == nil
		}
		if err != nil || len(call) == 0 {
			continue
		}
		t := f.threads[tid]
		if t == nil {
			t = &faulting{}
			f.threads[tid] = t
		}
		fault, asleep := inFault(call)
		t.saw(threadTime{time.Now(), busy}, fault, asleep)
	}
}

// readFault reads in which call a thread is, and how long it was on a CPU or waited for one.
func readFault(thread string) (call []byte, busy time.Duration, err error) {
	if call, err = readOnce(thread + "/syscall"); err != nil {
		return nil, 0, err
	}
	schedstat, err := readOnce(thread + "/schedstat")
	if err != nil {
		return nil, 0, err
	}
	busy, err = parseBusy(schedstat)
	return call, busy, err
}

func total(all map[Identity]*faulter, span time.Duration) map[Identity]FaultUse {
	uses := make(map[Identity]FaultUse, len(all))
	for id, f := range all {
		u := FaultUse{Duration: span}
		if f.hidden {
			u.Hidden = 1
		}
		for _, t := range f.threads {
			u.Held += t.held()
		}
		u.Held = time.Duration(float64(u.Held) * f.all())
		uses[id] = u
	}
	return uses
}
