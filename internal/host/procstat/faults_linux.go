//go:build !portable

package procstat

import (
	"errors"
	"io/fs"
	"math/rand/v2"
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
	// faultCost is the most of one CPU that looking may take.
	faultCost = 0.02
	// faultPatience is how long a watch waits for a process that can be read; then it ends,
	// as its processes have.
	faultPatience = 5 * time.Second
)

// FaultWatch looks at processes until it is stopped.
type FaultWatch struct {
	pids  func() []int
	stop  chan struct{}
	ended chan map[Identity]FaultUse
}

// WatchFaults starts to watch the processes that pids returns, which may change.
func WatchFaults(pids func() []int) *FaultWatch {
	w := &FaultWatch{pids: pids, stop: make(chan struct{}), ended: make(chan map[Identity]FaultUse, 1)}
	go w.run()
	return w
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

func (w *FaultWatch) run() {
	began, all := time.Now(), map[Identity]*faulter{}
	gate, last := time.Time{}, began // last: something could be read
	for timer := time.NewTimer(0); ; {
		select {
		case <-w.stop:
			timer.Stop()
			w.ended <- total(all, time.Since(began))
			return
		case <-timer.C:
		}
		look := time.Now()
		if !look.Before(gate) {
			gate = look.Add(faultGate)
			if w.count(all) {
				last = look
			} else if look.Sub(last) > faultPatience {
				w.ended <- total(all, last.Sub(began))
				return
			}
		}
		next := faultGate
		for _, f := range all {
			if f.active {
				f.look()
				next = faultLook/2 + rand.N(faultLook)
			}
		}
		took := time.Since(look)
		timer.Reset(max(next, time.Duration(float64(took)/faultCost)))
	}
}

// count reads the number of major faults of each process, and who has more than before;
// false where no process can be read.
func (w *FaultWatch) count(all map[Identity]*faulter) (alive bool) {
	for _, pid := range w.pids() {
		stat, err := ReadStat(pid)
		if err != nil {
			continue
		}
		alive = true
		f := all[stat.Identity()]
		if f == nil {
			all[stat.Identity()] = &faulter{pid: pid, major: stat.MajorFaults, active: true, threads: map[int]*faulting{}}
			continue
		}
		f.active = stat.MajorFaults > f.major
		f.major = stat.MajorFaults
		if !f.active {
			for _, t := range f.threads {
				t.pause()
			}
		}
	}
	return alive
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
