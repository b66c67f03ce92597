//go:build !portable

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/maxprocs/facts"
)

// patience bounds the wait for killed processes to be gone. Under a small quota
// each thread needs a few periods to die.
const patience = 10 * time.Second

// Group is a cgroup made here.
type Group struct {
	mount // that its directory is in; of one that was made elsewhere only the version
	dir   string
}

// New makes a group without a limit.
func (p *Parent) New() (*Group, error) {
	for {
		dir := filepath.Join(p.dir, p.self.group(p.made.Add(1)))
		if p.Announce != nil {
			if err := p.Announce(dir); err != nil {
				return nil, err
			}
		}
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, fs.ErrExist) { // of another Parent in this process
			continue
		}
		if err != nil {
			return nil, err
		}
		return &Group{p.mount, dir}, nil
	}
}

// Remove kills what is in the group of this directory, whoever made it, and
// removes it with the groups below it. Removing one that is gone is no error.
func Remove(dir string) error {
	g := &Group{mount{version: 1}, dir}
	if exists(filepath.Join(dir, "cgroup.controllers")) {
		g.version = 2
	}
	return g.Remove()
}

func (g *Group) Dir() string { return g.dir }

// ProcsFile is the file to which a process writes "0" to enter the group with
// all its threads.
func (g *Group) ProcsFile() string { return filepath.Join(g.dir, "cgroup.procs") }

// SetQuota limits the group to this much CPU time a second, in CPUs. It may be
// called again while processes run in the group.
func (g *Group) SetQuota(cpus float64) error {
	quota, err := quotaMicros(cpus)
	if err != nil {
		return err
	}
	if g.version == 2 {
		return write(filepath.Join(g.dir, "cpu.max"), fmt.Sprintf("%d %d", quota, Period.Microseconds()))
	}
	err = write(filepath.Join(g.dir, "cpu.cfs_period_us"), strconv.FormatInt(Period.Microseconds(), 10))
	if err == nil {
		err = write(filepath.Join(g.dir, "cpu.cfs_quota_us"), strconv.FormatInt(quota, 10))
	}
	if errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("CPU limit %v: %w: more than a parent cgroup allows; see cpu.cfs_quota_us in %s and further up", cpus, err, filepath.Dir(g.dir))
	}
	return err
}

// SetShares gives the group its part of the CPUs where groups compete for them, as
// cpu.shares has it: 1024 for each CPU of a request. cpu.weight of v2 is in proportion, 100
// for 1024 shares; Kubernetes and container runtimes use a Conversion.
func (g *Group) SetShares(shares int64) error {
	if shares < minShares || shares > maxShares {
		return fmt.Errorf("CPU shares %d: expected a number from %d to %d, for example 1024", shares, minShares, maxShares)
	}
	file, value := "cpu.shares", shares
	if g.version == 2 {
		file, value = "cpu.weight", min(maxWeight, max(1, (shares*100+512)/1024))
	}
	return write(filepath.Join(g.dir, file), strconv.FormatInt(value, 10))
}

var limitFiles = []string{"cpu.max", "cpu.max.burst", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.cfs_burst_us"}

// LimitsFrom is the CPU limits of a cgroup and of its parents up to the root, as far as it
// can be seen from here, by directory and in the kernel's own words. A group without the
// files of a limit, such as the root, has an empty text.
func LimitsFrom(dir string) map[string]string {
	texts := map[string]string{}
	for ; dir != "" && exists(filepath.Join(dir, "cgroup.procs")); dir = filepath.Dir(dir) {
		var words []string
		for _, name := range limitFiles {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				words = append(words, name+" "+strings.TrimSpace(string(text)))
			}
		}
		texts[dir] = strings.Join(words, ", ")
	}
	return texts
}

func (g *Group) Stats() (Stats, error) { return facts.ReadThrottling(g.dir) }

// Outside returns the group that a process is in, where that is neither this one nor
// below it; empty where it is, and for a process that has ended or is about to: the
// kernel shows those of v1 in the root group.
func (g *Group) Outside(pid int) (string, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			err = nil
		}
		return "", err
	}
	memberships, err := parseMemberships(data)
	if err != nil {
		return "", err
	}
	in := outside(g.mount, g.dir, memberships)
	if in == "" {
		return "", nil
	}
	if now, err := procstat.ReadStat(pid); err != nil || now.Ended() || now.Exiting {
		return "", nil
	}
	return in, nil
}

// Kill lifts the quota, sends SIGKILL to every process in the group and in
// groups below it, and returns when none is left.
func (g *Group) Kill() error {
	// Dying takes CPU time, which a small quota withholds. Where that fails,
	// dying takes longer, no more.
	if g.version == 2 {
		_ = write(filepath.Join(g.dir, "cpu.max"), "max")
	} else {
		_ = write(filepath.Join(g.dir, "cpu.cfs_quota_us"), "-1")
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left, err := g.killOnce()
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v in %s outlive SIGKILL by %v", left, g.dir, patience)
		}
	}
}

// killOnce signals what is in the group now, and returns it.
func (g *Group) killOnce() (pids []int, err error) {
	err = g.walk(func(dir string) error {
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if gone(err) {
			return nil
		}
		for _, field := range strings.Fields(string(data)) {
			// 0 is a process of a PID namespace that is not ours to see; as an
			// argument of kill it would mean ourselves.
			pid, err := strconv.Atoi(field)
			if err != nil || pid < 1 || pid == os.Getpid() {
				return fmt.Errorf("%s holds process %q, which cannot be killed from here", dir, field)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d in %s: %w", pid, dir, err)
			}
			pids = append(pids, pid)
		}
		return err
	})
	return pids, err
}

// Remove kills what is in the group and removes it with the groups below it.
// Removing one that is gone is no error.
func (g *Group) Remove() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if err := g.Kill(); err != nil {
			return err
		}
		err := g.walk(func(dir string) error {
			if err := syscall.Rmdir(dir); err != nil && !gone(err) {
				return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
			}
			return nil
		})
		// The kernel lets go of a dead process a moment after it is out of
		// sight.
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
	}
}

// walk calls visit for the group and every group below it, children first.
func (g *Group) walk(visit func(dir string) error) error {
	var down func(dir string) error
	down = func(dir string) error {
		entries, err := os.ReadDir(dir)
		if err != nil && !gone(err) {
			return err
		}
		for _, e := range entries {
			if e.IsDir() {
				if err := down(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
		return visit(dir)
	}
	return down(g.dir)
}

// gone reports whether a group was removed under our hands: its files then fail with
// ENODEV, or are not there.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV)
}

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
		if err := (&Group{p.mount, dir}).Remove(); err != nil {
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
