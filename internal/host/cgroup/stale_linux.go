//go:build !portable

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/procfit/procfit/internal/host/procstat"
)

// RemoveStale removes the groups in p that a procfit made which is gone, killing
// what still runs in them, and returns how many. Empty leaves of such runs go
// too.
func (p *Parent) RemoveStale() (removed int, err error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, e := range entries {
		o, leaf, ok := parseName(e.Name())
		if !ok || !e.IsDir() || o.namespace != p.self.namespace || alive(o) {
			continue
		}
		dir := filepath.Join(p.dir, e.Name())
		if leaf {
			if syscall.Rmdir(dir) == nil { // EBUSY: somebody's shell lives there
				removed++
			}
			continue
		}
		if err := (&Group{dir: dir, version: p.version}).Remove(); err != nil {
			failed = append(failed, fmt.Errorf("remove a group left by process %d: %w", o.pid, err))
			continue
		}
		removed++
	}
	return removed, errors.Join(failed...)
}

// alive reports whether the owner still runs. A zombie counts as gone; what cannot
// be told counts as alive.
func alive(o owner) bool {
	now, err := procstat.ReadStat(o.pid)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	return now.Started == o.start && !now.Ended()
}

// thisProcess is procfit itself as an owner.
func thisProcess() (owner, error) {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/pid", &st); err != nil {
		return owner{}, fmt.Errorf("/proc/self/ns/pid: %w", err)
	}
	data, err := os.ReadFile("/proc/self/stat") // with the PID as this /proc has it, which others compare with
	if err != nil {
		return owner{}, err
	}
	now, err := procstat.ParseStat(data)
	return owner{namespace: st.Ino, pid: now.PID, start: now.Started}, err
}
