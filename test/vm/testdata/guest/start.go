//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// start makes the groups, goes into them itself and starts the probe from a
// thread that has the mask and the namespaces, so that the probe has all of
// them before its first instruction. There it is stopped (ptrace) until the
// limits are set, which would throttle this process too had they been earlier.
func start(o Order) Answer {
	a := Answer{ID: o.ID}
	groups, err := makeGroups(o)
	if err == nil {
		stopped, goOn, done := make(chan error), make(chan bool), make(chan error)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			pid, err := startStopped(o, groups[len(groups)-1])
			a.PID = pid
			stopped <- err
			if <-goOn {
				done <- unix.PtraceDetach(pid)
			}
		}()
		err = first(func() error { return <-stopped }, func() error { return leave(o) }, func() error { return limitAll(o, groups) })
		goOn <- err == nil
		if err == nil {
			err = <-done
		}
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// leave takes this process back to the hierarchies' roots.
func leave(o Order) error {
	return first(
		func() error { return write(o.CgroupAt, "cgroup.procs", "0") },
		func() error { return write(o.CpusetAt, "cgroup.procs", "0") },
	)
}

// limitAll goes from the top: v1 refuses a child more than its parent has.
func limitAll(o Order, groups []string) error {
	for i, quota := range o.Quotas {
		if quota == 0 {
			continue
		}
		if err := limit(o, groups[i], quota); err != nil {
			return err
		}
	}
	return nil
}

// startStopped starts the probe in the group and returns when it stands before
// its first instruction.
func startStopped(o Order, group string) (int, error) {
	if err := write(group, "cgroup.procs", "0"); err != nil {
		return 0, err
	}
	if len(o.Affinity) > 0 {
		var mask unix.CPUSet
		for _, cpu := range o.Affinity {
			mask.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &mask); err != nil {
			return 0, fmt.Errorf("affinity %v: %w", o.Affinity, err)
		}
	}
	out, err := os.Create(outputFile(o.ID))
	if err != nil {
		return 0, err
	}
	defer out.Close()
	if err := enter(o, group); err != nil {
		return 0, err
	}
	p, err := os.StartProcess(o.Program, []string{o.Program}, &os.ProcAttr{
		Env: o.Env, Files: []*os.File{nil, out, out}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(p.Pid, &status, 0, nil); err != nil {
		return 0, err
	}
	if !status.Stopped() {
		return 0, fmt.Errorf("want it stopped after exec, have wait status %#x", status)
	}
	return p.Pid, nil
}

// makeGroups makes the probe's groups, from the top to its own.
func makeGroups(o Order) ([]string, error) {
	var groups []string
	group := o.CgroupAt
	for i := range o.Quotas {
		if o.Version == 2 {
			if err := write(group, "cgroup.subtree_control", "+cpu +cpuset"); err != nil {
				return nil, err
			}
		}
		group = filepath.Join(group, fmt.Sprintf("cell%d.%d", o.ID, i))
		if err := os.Mkdir(group, 0o755); err != nil {
			return nil, err
		}
		groups = append(groups, group)
	}
	return groups, enterCpuset(o, group)
}

func limit(o Order, group string, quota int64) error {
	if o.Version == 2 {
		return write(group, "cpu.max", fmt.Sprintf("%d %d", quota, o.Period))
	}
	return first(
		func() error { return write(group, "cpu.cfs_period_us", strconv.FormatInt(o.Period, 10)) },
		func() error { return write(group, "cpu.cfs_quota_us", strconv.FormatInt(quota, 10)) },
	)
}

// enterCpuset confines by a cpuset group: the cpu group itself on v2, and one
// of another hierarchy elsewhere, which this process enters.
func enterCpuset(o Order, group string) error {
	if o.Cpuset == "" {
		return nil
	}
	apart := o.CpusetAt != o.CgroupAt
	if apart {
		if o.CpusetVersion == 2 {
			if err := write(o.CpusetAt, "cgroup.subtree_control", "+cpuset"); err != nil {
				return err
			}
		}
		group = filepath.Join(o.CpusetAt, fmt.Sprintf("cell%d", o.ID))
		if err := os.Mkdir(group, 0o755); err != nil {
			return err
		}
	}
	if err := write(group, "cpuset.cpus", o.Cpuset); err != nil {
		return err
	}
	if err := write(group, "cpuset.mems", "0"); err != nil || !apart {
		return err
	}
	return write(group, "cgroup.procs", "0")
}

// enter gives this thread its view of the cgroups:
//
//	host       that of the machine
//	unshare    a cgroup namespace, the old mounts: unshare -C
//	container  a cgroup namespace and the hierarchy mounted in it: runc's default on v2
//	bind       the group bind-mounted, no namespace: runc's default on v1
//	agent      a container with the machine's hierarchy mounted a second time, later
//	nsfs       the hierarchy mounted again, after a bind-mounted namespace
//	covered    another file system over the hierarchy, the group bind-mounted elsewhere
//	above      the group above bind-mounted, and then a cgroup namespace of its own
func enter(o Order, group string) error {
	switch o.View {
	case "host":
		return nil
	case "unshare":
		return unix.Unshare(unix.CLONE_NEWCGROUP)
	}
	aside := fmt.Sprintf("/tmp/aside.%d", o.ID)
	if err := os.Mkdir(aside, 0o755); err != nil {
		return err
	}
	steps := []func() error{
		func() error { return unix.Unshare(unix.CLONE_NEWNS) },
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
	}
	do := func(more ...func() error) { steps = append(steps, more...) }
	namespace := func() error { return unix.Unshare(unix.CLONE_NEWCGROUP) }
	bind := func(from, to string) func() error {
		return func() error { return unix.Mount(from, to, "", unix.MS_BIND, "") }
	}
	off := func(at string) func() error {
		return func() error { return unix.Unmount(at, unix.MNT_DETACH) }
	}
	anew := func() error {
		if o.Version == 1 {
			return unix.Mount("none", o.CgroupAt, "cgroup", 0, "cpu")
		}
		return unix.Mount("none", o.CgroupAt, "cgroup2", 0, "")
	}
	move := func() error { return unix.Mount(aside, o.CgroupAt, "", unix.MS_MOVE, "") }
	switch o.View {
	case "container":
		do(namespace, off(o.CgroupAt), anew)
	case "bind":
		do(bind(group, aside), off(o.CgroupAt), move)
	case "agent":
		kept := aside + "/kept"
		do(func() error { return unix.Mount("none", aside, "tmpfs", 0, "") }, mkdir(kept), mkdir(aside+"/host"),
			namespace, bind(o.CgroupAt, kept), off(o.CgroupAt), anew, bind(kept, aside+"/host"), off(kept))
	case "nsfs":
		file := aside + "/net"
		do(func() error { return os.WriteFile(file, nil, 0o644) }, off(o.CgroupAt), bind("/proc/self/ns/net", file), anew)
	case "covered":
		do(bind(group, aside), func() error { return unix.Mount("none", o.CgroupAt, "tmpfs", 0, "") })
	case "above":
		do(bind(filepath.Dir(group), aside), off(o.CgroupAt), move, namespace)
	default:
		return fmt.Errorf("no view %q", o.View)
	}
	return first(steps...)
}

func mkdir(dir string) func() error {
	return func() error { return os.Mkdir(dir, 0o755) }
}

func first(steps ...func() error) error {
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func write(dir, file, text string) error {
	err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
	if err != nil {
		return fmt.Errorf("write %q: %w", strings.TrimSpace(text), err)
	}
	return nil
}
