//go:build !portable

package procstat

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
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

// WatchFaults starts to watch the processes that pids returns, which may change.
func WatchFaults(pids func() []int) *FaultWatch {
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

// faulter is a process that is watched.
type faulter struct {
	pid     int
	major   uint64
	active  bool // its faults rose lately, or it is new here
	hidden  bool
	threads map[int]*faulting
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
			if w.count(all) {
				last = now
			} else if now.Sub(last) > faultPatience {
				w.ended <- total(all, last.Sub(began))
				return
			}
			gate = atMost(gateCost, now, faultGate)
		}
		next := gate
		if now = time.Now(); active(all) {
			if !now.Before(look) {
				for _, f := range all {
					if f.active {
						f.look()
					}
				}
				look = atMost(faultCost, now, faultLook/2+rand.N(faultLook))
			}
			if look.Before(next) {
				next = look
			}
		}
		timer.Reset(time.Until(next))
	}
}

// atMost is when to do again what began at a moment, so that it costs at most this share
// of a CPU.
func atMost(share float64, began time.Time, after time.Duration) time.Time {
	return began.Add(max(after, time.Duration(float64(time.Since(began))/share)))
}

func active(all map[Identity]*faulter) bool {
	for _, f := range all {
		if f.active {
			return true
		}
	}
	return false
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
		if stat.MajorFaults > f.major {
			f.active = true
		} else {
			f.rest()
		}
		f.major = stat.MajorFaults
	}
	return alive
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
	count  uint64
	before bool // it rose before
}

// rose reports whether the number rose since the last call or since the one before; true
// where it cannot be read.
func (m *machineFaults) rose() bool {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return true
	}
	n, err := parseMachineFaults(b)
	if err != nil {
		return true
	}
	now, before := n != m.count, m.before
	m.count, m.before = n, now
	return now || before
}

// look looks at all threads of the process.
func (f *faulter) look() {
	dir := "/proc/" + strconv.Itoa(f.pid) + "/task"
	ids, err := IDs(dir)
	if err != nil {
		f.active = false
		return
	}
	for _, tid := range ids {
		own := dir + "/" + strconv.Itoa(tid)
		syscall, err := readOnce(own + "/syscall")
		if err != nil || len(syscall) == 0 {
			f.hidden = f.hidden || errors.Is(err, fs.ErrPermission)
			continue
		}
		schedstat, err := readOnce(own + "/schedstat")
		if err != nil {
			continue
		}
		busy, err := parseBusy(schedstat)
		if err != nil {
			continue
		}
		t := f.threads[tid]
		if t == nil {
			t = &faulting{}
			f.threads[tid] = t
		}
		fault, asleep := inFault(syscall)
		t.saw(threadTime{time.Now(), busy}, fault, asleep)
	}
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
		uses[id] = u
	}
	return uses
}
