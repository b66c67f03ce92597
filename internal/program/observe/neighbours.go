package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Neighbours are the other processes under the CPU limit of a process or, where no limit is
// below the CPUs that it may run on, on the same CPUs; and what they used over a while.
type Neighbours struct {
	PID  int
	Dir  string // of the cgroup with the limit; empty: there is none
	CPUs int    // that the process may run on, where there is no limit
	// Part reports that CPUs are not all of the machine's: what Others used may be on others, too.
	Part bool
	Over time.Duration
	// All is what all of them used, in CPUs on average, without procfit where that is one of them.
	// Own is what the process itself used.
	All, Own float64
	// Counted reports that All is the kernel's own count. Else it is the sum of the processes
	// that were seen, and what one did after the last look at it is missing.
	Counted bool
	Others  []Used // those that used some, the most first
	// Throttled is the share of the limit's periods in which it throttled them; nil: not known.
	Throttled *float64
}

// Used is what the others used.
func (n Neighbours) Used() float64 { return max(0, n.All-n.Own) }

// grain is the CPU time that cannot be distinguished from none: the kernel's counts of two
// processes are in steps of 10 ms, for the program and for the kernel each.
const grain = 50 * time.Millisecond

// Reserve is that in hundredths of a CPU, rounded up; 0 if it is below the grain. With the
// smallest reserve fit already rounds down, so that an error of measurement would cost a P.
func (n Neighbours) Reserve() float64 {
	if n.Used()*n.Over.Seconds() < grain.Seconds() {
		return 0
	}
	return math.Ceil(100*n.Used()-1e-9) / 100
}

// lookEvery is the time between two looks at the processes.
const lookEvery = 200 * time.Millisecond

// LookAtNeighbours looks for some time at what runs under the limit of a process. What cannot be
// counted is an error, and never nothing.
func LookAtNeighbours(ctx context.Context, s rule.Subject, over time.Duration) (Neighbours, error) {
	n := Neighbours{PID: s.PID}
	w := &neighbourhood{pid: s.PID, first: map[Identity]Stat{}, last: map[Identity]Stat{}, unread: map[int]bool{}}
	if l, limited := s.Limit(); limited {
		n.Dir, w.dir = l.Dir, l.Dir
	} else if err := w.onCPUs(s.Facts); err != nil {
		return n, err
	} else {
		n.CPUs, n.Part = s.Facts.AffinityCPUs(), w.cpus != nil
	}
	if unknown := s.Facts.Unknown(); len(unknown) > 0 {
		return n, fmt.Errorf("%s: which limit it shares is not known: %s; give the CPUs of the others as a number", processOf(s.PID), unknown[0])
	}
	began := time.Now()
	before, err := w.count()
	if err != nil {
		return n, err
	}
	for left := over; left > 0; left = over - time.Since(began) {
		if err := w.look(ctx); err != nil {
			return n, err
		}
		if err := wait.For(ctx, min(left, lookEvery)); err != nil {
			return n, err
		}
	}
	if err := w.look(ctx); err != nil {
		return n, err
	}
	after, err := w.count()
	if err != nil {
		return n, err
	}
	n.Over = time.Since(began)
	err = w.sum(&n, before, after)
	return n, err
}

func processOf(pid int) string { return "process " + strconv.Itoa(pid) }

// neighbourhood is where a process and its neighbours are.
type neighbourhood struct {
	pid  int
	dir  string     // of a cgroup; empty: CPUs
	cpus cpuset.Set // nil: all
	// first and last are how the processes were seen for the first and for the last time.
	first, last map[Identity]Stat
	unread      map[int]bool // processes that could not be read in the last look
	hidden      int          // those of which that was so before: they have not just ended
}

// onCPUs takes the CPUs of a process as the place.
func (w *neighbourhood) onCPUs(f facts.Facts) (err error) {
	have := f.AffinityCPUs()
	switch {
	case have == 0:
		return fmt.Errorf("%s: the CPUs that it may run on are not known", processOf(w.pid))
	case f.Online.State == facts.Known && float64(have) >= f.Online.CPUs:
		return nil
	}
	if w.cpus, err = AllowedCPUs(w.pid); err != nil || len(w.cpus) != have {
		return fmt.Errorf("%s: its threads may run on different CPUs, so that the others on these cannot be counted; give their CPUs as a number", processOf(w.pid))
	}
	return nil
}

// AllowedCPUs are those that the first thread of a process may run on.
func AllowedCPUs(pid int) (cpuset.Set, error) {
	list, err := procstat.Status(pid, "Cpus_allowed_list")
	if err != nil {
		return nil, err
	}
	return cpuset.Parse(list)
}

// elsewhere reports whether a process may run on none of the place's CPUs.
func (w *neighbourhood) elsewhere(pid int) bool {
	if w.cpus == nil {
		return false
	}
	on, err := AllowedCPUs(pid)
	return err == nil && !on.Overlaps(w.cpus)
}

func (w *neighbourhood) gone() error {
	if w.dir == "" {
		return fmt.Errorf("%s has ended", processOf(w.pid))
	}
	return fmt.Errorf("%s has ended, or left %s", processOf(w.pid), w.dir)
}

func (w *neighbourhood) look(ctx context.Context) error {
	pids, err := w.pids(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(pids, w.pid) {
		return w.gone()
	}
	unread := map[int]bool{}
	w.hidden = 0
	for _, pid := range pids {
		s, err := procstat.ReadStat(pid)
		if err != nil {
			if unread[pid] = true; w.unread[pid] {
				w.hidden++
			}
			continue
		}
		if _, ok := w.first[s.Identity()]; !ok {
			w.first[s.Identity()] = s
		}
		w.last[s.Identity()] = s
	}
	w.unread = unread
	return nil
}

// pids are the processes of the place: of a cgroup and of those below it.
func (w *neighbourhood) pids(ctx context.Context) (pids []int, err error) {
	if w.dir == "" {
		return procstat.IDs("/proc")
	}
	err = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil { // who has a cgroup can make any number below it
			return ctx.Err()
		}
		if err != nil || !d.IsDir() {
			if path != w.dir && errors.Is(err, fs.ErrNotExist) { // removed in this moment
				return nil
			}
			return err
		}
		b, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil && path != w.dir && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("which processes share the limit cannot be read: %w; give their CPUs as a number", err)
		}
		for _, word := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(word) // 0: of another PID namespace
			if err != nil {
				return fmt.Errorf("%s: %q is not a process", filepath.Join(path, "cgroup.procs"), word)
			}
			pids = append(pids, pid)
		}
		return nil
	})
	return pids, err
}

func between(before, after Stat) time.Duration {
	return max(0, after.User+after.System-before.User-before.System)
}

// sum works out what was used between two counts. What procfit used to look is not a neighbour's.
func (w *neighbourhood) sum(n *Neighbours, before, after counted) error {
	if before.own.Identity() != after.own.Identity() {
		return w.gone()
	}
	seconds := n.Over.Seconds()
	n.Own = between(before.own, after.own).Seconds() / seconds
	all, procfit := between(before.own, after.own), time.Duration(0)
	for _, id := range slices.SortedFunc(maps.Keys(w.last), func(a, b Identity) int { return cmp.Compare(a.PID, b.PID) }) {
		used := between(w.first[id], w.last[id])
		switch {
		case id.PID == w.pid:
		case id == after.self.Identity() && !n.Part:
			procfit = between(before.self, after.self)
		default:
			all += used
			if used > 0 && !w.elsewhere(id.PID) {
				n.Others = append(n.Others, Used{PID: id.PID, Name: name(id.PID, w.last[id].Name), CPUs: used.Seconds() / seconds})
			}
		}
	}
	sorting.Stable(n.Others, func(a, b Used) int { return cmp.Compare(b.CPUs, a.CPUs) })
	if before.used != nil && after.used != nil {
		n.All, n.Counted = max(0, *after.used-*before.used-procfit).Seconds()/seconds, true
	} else {
		if w.hidden > 0 {
			return fmt.Errorf("%d processes of %s cannot be read, and this kernel has no count of its CPU time: run as root, outside of a container, or give their CPUs as a number", w.hidden, w.dir)
		}
		n.All = all.Seconds() / seconds
	}
	if before.err == nil && after.err == nil {
		if span, ok := ThrottledSince(after.limit, before.limit); ok && span.Periods > 0 {
			n.Throttled = new(float64(span.ThrottledPeriods) / float64(span.Periods))
		}
	}
	return nil
}
