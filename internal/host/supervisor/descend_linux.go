//go:build !portable

package supervisor

import (
	"os"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/host/procstat"
)

// A process is what the kernel said of it; the start time tells it from a later
// one of the same PID.
type process struct{ procstat.Stat }

// descendants lists all below root, parents first.
func descendants(root int) ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	children := map[int][]process{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if s, err := procstat.ReadStat(pid); err == nil {
				children[s.Parent] = append(children[s.Parent], process{s})
			}
		}
	}
	all := slices.Clone(children[root])
	for i := 0; i < len(all); i++ { // grows as it goes
		all = append(all, children[all[i].PID]...)
		delete(children, all[i].PID) // a PID that was used again during the scan must not make a cycle
	}
	return all, nil
}

// kill sends SIGKILL to exactly this process, not to a later one of its PID: a
// descriptor of it is held while its start time is compared.
func (p process) kill() {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return
	}
	defer handle.Release()
	if now, err := procstat.ReadStat(p.PID); err == nil && now.Started == p.Started {
		_ = handle.Kill() // fails if it is gone
	}
}
