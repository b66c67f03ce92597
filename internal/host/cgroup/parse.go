package cgroup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
