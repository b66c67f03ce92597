package cgroup

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// locate decides which hierarchy has the cpu controller, and where procfit's
// own group of it is mounted. v1 wins when it holds the controller, as in the
// kernel: a controller is in one hierarchy only. A group outside of the mount is seen as
// its top.
func locate(mounts []mount, memberships []membership) (in mount, dir string, err error) {
	version, own := 0, ""
	for _, m := range memberships {
		switch {
		case slices.Contains(m.controllers, "cpu"):
			version, own = 1, m.path
		case len(m.controllers) == 0 && version == 0:
			version, own = 2, m.path
		}
	}
	if version == 0 {
		return mount{}, "", errors.New("/proc/self/cgroup names neither a cpu hierarchy (v1) nor the unified one (v2): the kernel has no cpu cgroups")
	}
	for _, m := range mounts {
		if m.version != version || version == 1 && !slices.Contains(m.options, "cpu") {
			continue
		}
		if in.version == 0 || in.ro && !m.ro {
			in = m
		}
	}
	if in.version == 0 {
		return mount{}, "", errors.New("the cgroup hierarchy with the cpu controller is not mounted here: in a container, mount it (for docker: --privileged --cgroupns=private)")
	}
	dir, ok := seen(in, own)
	if !ok {
		dir = in.point
	}
	return in, dir, nil
}

// seen is the directory of the group at path, if it can be seen through m. Without a
// cgroup namespace a container sees its host's path, where only the part below the
// mount's root exists.
func seen(m mount, group string) (dir string, ok bool) {
	if strings.Contains(group+"/", "/../") { // outside of the cgroup namespace
		return "", false
	}
	rest, ok := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return path.Join(m.point, rest), true
}

// outside returns the group that a process is in by its memberships, unless that is
// the group of the directory or one below it. A group that cannot be seen through m
// has the path that the kernel gives it.
func outside(m mount, dir string, memberships []membership) string {
	for _, one := range memberships {
		if m.version == 1 && !slices.Contains(one.controllers, "cpu") || m.version == 2 && len(one.controllers) > 0 {
			continue
		}
		in, ok := seen(m, one.path)
		switch {
		case !ok:
			return one.path
		case in == dir || strings.HasPrefix(in, dir+"/"):
			return ""
		}
		return in
	}
	return ""
}

// A mount is one line of /proc/self/mountinfo of a cgroup file system.
type mount struct {
	root    string // the hierarchy's directory that is mounted
	point   string
	version int      // 1 or 2
	options []string // of the hierarchy: on v1 its controllers are among them
	ro      bool
}

// parseMounts finds the cgroup mounts in mountinfo:
//
//	36 25 0:32 /root /mount/point rw,noatime shared:9 … - cgroup source rw,cpu
//
// (proc_pid_mountinfo(5)). A line of another form is no cgroup mount.
func parseMounts(mountinfo []byte) []mount {
	var mounts []mount
	for line := range strings.Lines(string(mountinfo)) {
		head, tail, ok := strings.Cut(strings.TrimRight(line, "\n"), " - ")
		front, back := strings.Split(head, " "), strings.Split(tail, " ")
		if !ok || len(front) < 6 || len(back) < 3 {
			continue
		}
		m := mount{root: unescape(front[3]), point: unescape(front[4]), options: strings.Split(back[2], ",")}
		switch back[0] {
		case "cgroup":
			m.version = 1
		case "cgroup2":
			m.version = 2
		default:
			continue
		}
		m.ro = slices.Contains(strings.Split(front[5], ","), "ro") || slices.Contains(m.options, "ro")
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape undoes mountinfo's octal escapes of space, tab, newline and
// backslash.
func unescape(field string) string {
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) {
			if c, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(field[i])
	}
	return b.String()
}

// A membership is one line of /proc/self/cgroup.
type membership struct {
	controllers []string // empty on v2
	path        string
}

// parseMemberships reads lines of "id:controllers:path" (cgroups(7)).
func parseMemberships(data []byte) ([]membership, error) {
	var all []membership
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		fields := strings.SplitN(line, ":", 3)
		if len(fields) != 3 || !strings.HasPrefix(fields[2], "/") {
			return nil, fmt.Errorf("/proc/self/cgroup: %q is not id:controllers:path", line)
		}
		m := membership{path: fields[2]}
		if fields[1] != "" {
			m.controllers = strings.Split(fields[1], ",")
		}
		all = append(all, m)
	}
	return all, nil
}
