package observe

import (
	"cmp"
	"os"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Used is what a process used of the CPUs.
type Used struct {
	PID  int
	Name string // any bytes
	CPUs float64
}

// fewestUsed is the least that a process is named for, in CPUs.
const fewestUsed = 0.05

// AllTimes are the CPU times of all processes but this one, as far as they can be read.
func AllTimes() map[Identity]procstat.Stat {
	pids, _ := procstat.IDs("/proc") // without them nothing is named
	all := map[Identity]procstat.Stat{}
	for _, pid := range pids {
		if s, err := procstat.ReadStat(pid); err == nil && pid != os.Getpid() {
			all[s.Identity()] = s
		}
	}
	return all
}

// Busiest are the processes that used CPU time between two readings, the busiest first. One
// that started meanwhile has all of its time in them.
func Busiest(before, now map[Identity]procstat.Stat, between time.Duration) (list []Used) {
	for id, s := range now {
		used := s.User + s.System
		if was, ok := before[id]; ok {
			used -= was.User + was.System
		}
		if cpus := used.Seconds() / between.Seconds(); cpus >= fewestUsed {
			list = append(list, Used{PID: s.PID, Name: s.Name, CPUs: cpus})
		}
	}
	return sorting.Sorted(list, func(a, b Used) int { return cmp.Or(cmp.Compare(b.CPUs, a.CPUs), cmp.Compare(a.PID, b.PID)) })
}
