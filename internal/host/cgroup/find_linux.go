//go:build !portable

package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Parent is a directory of a cgroup hierarchy with the cpu controller, in which
// groups can be made.
type Parent struct {
	// Announce, when set, gets the directory of each group before it is made,
	// so that somebody can remove it should procfit die.
	Announce func(dir string) error

	mount
	dir  string
	self owner
	made atomic.Int64
}

// Find finds where groups can be made, proves it by making and removing one,
// and on v2 prepares the place (see the package's model). The error says what
// to do where none can be made.
func Find() (*Parent, error) {
	p, err := here()
	if err != nil {
		return nil, err
	}
	if p.version == 2 {
		err = p.prepare()
	}
	if err == nil {
		err = p.try()
	}
	if err != nil {
		return nil, p.advise(err)
	}
	return p, nil
}

// Denied is the error that Find is known to return, found without making a group or
// changing one; nil: none is known, and Find may still fail.
func Denied() error {
	p, err := here()
	if err != nil {
		return err
	}
	if p.version == 2 {
		if _, err := p.choose(); err != nil {
			return p.advise(err)
		}
	}
	const write = 2 // W_OK of access(2)
	if err := syscall.Access(p.dir, write); err != nil {
		return p.advise(&fs.PathError{Op: "mkdir", Path: p.dir, Err: err})
	}
	return nil
}

// here is procfit's own group, below which others may be made.
func here() (*Parent, error) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find cgroups: %w", err)
	}
	memberships, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("find cgroups: the kernel has none: %w", err)
	}
	groups, err := parseMemberships(memberships)
	if err != nil {
		return nil, err
	}
	in, dir, err := locate(parseMounts(mountinfo), groups)
	if err != nil {
		return nil, fmt.Errorf("find cgroups: %w", err)
	}
	self, err := thisProcess()
	return &Parent{mount: in, dir: dir, self: self}, err
}

// Dir is the directory in which the groups are made.
func (p *Parent) Dir() string { return p.dir }

func (p *Parent) try() error {
	g, err := p.New()
	if err != nil {
		return err
	}
	_, err = g.Stats()
	return errors.Join(err, g.Remove())
}

// choose chooses the parent on v2, which must have the cpu controller, and reports
// whether the mount shows the root of the hierarchy.
func (p *Parent) choose() (root bool, err error) {
	root = !exists(filepath.Join(p.point, "cgroup.type")) // which every group but the hierarchy's root has
	_, leaf, ok := parseName(filepath.Base(p.dir))
	switch {
	case ok && leaf: // an earlier run has moved us there
		p.dir = filepath.Dir(p.dir)
	case root && os.Geteuid() == 0:
		p.dir = p.point
	}
	controllers, err := p.words("cgroup.controllers")
	if err == nil && !slices.Contains(controllers, "cpu") {
		err = fmt.Errorf("group %s has no cpu controller, only %q", p.dir, controllers)
	}
	return root, err
}

// prepare makes the cpu controller available below the parent on v2.
func (p *Parent) prepare() error {
	root, err := p.choose()
	if err != nil {
		return err
	}
	enabled, err := p.words("cgroup.subtree_control")
	if err != nil || slices.Contains(enabled, "cpu") {
		return err
	}
	control := filepath.Join(p.dir, "cgroup.subtree_control")
	if root && p.dir == p.point { // the root may hold processes next to groups
		return write(control, "+cpu")
	}
	leafDir := filepath.Join(p.dir, p.self.leaf())
	if err := os.Mkdir(leafDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Others may fork, or enter, between the move and the write: try again.
	for range 100 {
		if err = p.evacuate(leafDir); err != nil {
			return err
		}
		if err = write(control, "+cpu"); !errors.Is(err, syscall.EBUSY) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

func (p *Parent) evacuate(leaf string) error {
	pids, err := p.words("cgroup.procs")
	for _, pid := range pids {
		if err := write(filepath.Join(leaf, "cgroup.procs"), pid); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("move process %s out of %s: %w", pid, p.dir, err)
		}
	}
	return err
}

func (p *Parent) words(file string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(p.dir, file))
	return strings.Fields(string(data)), err
}

func (p *Parent) advise(err error) error {
	hint := "run as root"
	switch {
	case p.ro || errors.Is(err, syscall.EROFS):
		hint = p.point + " is mounted read-only: in a container, mount it writable (for docker: --privileged --cgroupns=private)"
	case os.Geteuid() == 0:
		hint = "the system lets even root not do this here: try systemd-run --scope -p Delegate=yes procfit …"
	case p.version == 2:
		hint = "run in a cgroup of your own, with systemd-run --user --scope -p Delegate=yes procfit …, or as root"
	}
	return fmt.Errorf("%w; %s", err, hint)
}

func write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
