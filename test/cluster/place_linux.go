package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// place is what a cluster of a number takes on this machine.
type place struct {
	number int
	dir    string
	lock   *os.File
}

const mostClusters = 8

func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "procfit", "cluster"), err
}

// claim takes the first number that nobody has. What a killed one left there is
// taken away.
func claim() (place, error) {
	cache, err := cacheDir()
	if err != nil {
		return place{}, err
	}
	if err := os.MkdirAll(filepath.Join(cache, "run"), 0o700); err != nil {
		return place{}, err
	}
	for n := range mostClusters {
		p := place{number: n, dir: filepath.Join(cache, "run", fmt.Sprint(n))}
		if p.lock, err = os.OpenFile(p.dir+".lock", os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600); err != nil {
			return place{}, err
		}
		if syscall.Flock(int(p.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return p, p.clear()
		}
		p.lock.Close()
	}
	return place{}, fmt.Errorf("%d clusters run already", mostClusters)
}

// link is the machine's end of the pair of interfaces; its addresses are of a network
// of four.
func (p place) link() string    { return fmt.Sprintf("procfit%d", p.number) }
func (p place) outside() string { return fmt.Sprintf("10.201.%d.1", p.number) }
func (p place) inside() string  { return fmt.Sprintf("10.201.%d.2", p.number) }

// cgroup is the group that all pods are below, in every hierarchy.
func (p place) cgroup() string { return fmt.Sprintf("/test-cluster-%d", p.number) }

// prepare makes the folders and the groups. A group of cpuset begins without CPUs, so
// it gets its parent's.
func (p place) prepare(nodes int) error {
	for n := range nodes {
		node := fmt.Sprintf("node%d", n+1)
		if err := os.MkdirAll(filepath.Join(p.dir, node), 0o700); err != nil {
			return err
		}
		for _, top := range hierarchies() {
			for _, dir := range []string{filepath.Join(top, p.cgroup()), filepath.Join(top, p.cgroup(), node)} {
				if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
					return err
				}
				for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
					if b, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file)); err == nil {
						if err := os.WriteFile(filepath.Join(dir, file), b, 0o644); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// hierarchies are the roots of all cgroups: one of v2, or those of v1.
func hierarchies() []string {
	const root = "/sys/fs/cgroup"
	if _, err := os.Stat(root + "/cgroup.procs"); err == nil {
		return []string{root}
	}
	var all []string
	found, _ := filepath.Glob(root + "/*/cgroup.procs")
	for _, f := range found {
		all = append(all, filepath.Dir(f))
	}
	return all
}

// clear takes away what a cluster leaves. The interface goes with its namespace too,
// but the kernel takes its time for that.
func (p place) clear() error {
	if _, err := net.InterfaceByName(p.link()); err == nil {
		if _, err := run(context.Background(), nil, "ip", "link", "delete", p.link()); err != nil {
			if _, there := net.InterfaceByName(p.link()); there == nil {
				return err
			}
		}
	}
	for _, top := range hierarchies() {
		if err := removeGroups(filepath.Join(top, p.cgroup())); err != nil {
			return err
		}
	}
	return os.RemoveAll(p.dir)
}

// removeGroups waits for processes that are about to go, some of them killed with
// the namespace a moment ago.
func removeGroups(top string) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		var dirs []string
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, name)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		var failed error
		for i := len(dirs) - 1; i >= 0; i-- {
			if err := syscall.Rmdir(dirs[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = fmt.Errorf("rmdir %s: %w", dirs[i], err)
			}
		}
		if failed == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w; what runs there: %s", failed, strings.Fields(members(top)))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func members(top string) string {
	all := ""
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			b, _ := os.ReadFile(filepath.Join(name, "cgroup.procs"))
			all += string(b)
		}
		return nil
	})
	return all
}

func (p place) release() error {
	err := p.clear()
	return errors.Join(err, p.lock.Close())
}
