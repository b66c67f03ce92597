package facts

import "strings"

// goPlace is where a Go runtime looks for the limit of its own cgroup, or why it
// finds none. The search follows the runtime's own, line by line, with what it
// stumbles over: FindCPU in internal/runtime/cgroup.
type goPlace struct {
	version int
	dir     string // as the process sees it
	why     string
}

// The runtime's buffers, in bytes.
const (
	goPathMax  = 4096         // PathSize
	goLineMax  = 4 * 4 * 4096 // ParseSize: the longest line, with its newline
	goLineOver = "has a line that is longer than the runtime's buffer, or no newline at the end"
)

// findGo is the search of a minor release from 1.25 on. The texts are those that
// the process itself reads; nil is one that it cannot read.
func findGo(minor int, procCgroup, mountinfo []byte) goPlace {
	if minor < minorGroupFirst {
		return findGoMountFirst(procCgroup, mountinfo)
	}
	group, version, why := goGroup(procCgroup, true)
	if why != "" {
		return goPlace{why: why}
	}
	dir, why := goMountOf(mountinfo, group, version)
	return goPlace{version: version, dir: dir, why: why}
}

// findGoMountFirst is that of Go 1.25: it takes the last v2 mount or the first v1
// mount with the cpu controller, whatever that shows, and appends the group.
func findGoMountFirst(procCgroup, mountinfo []byte) goPlace {
	point, why := goMountPoint(mountinfo)
	if why != "" {
		return goPlace{why: why}
	}
	group, version, why := goGroup(procCgroup, false)
	return goPlace{version: version, dir: point + group, why: why}
}

const (
	procSelfCgroup    = "/proc/self/cgroup "
	procSelfMountinfo = "/proc/self/mountinfo "
	goMalformed       = "has a line that the runtime cannot parse: "
)

// goGroup is parseCPUCgroup, before 1.26 parseCPURelativePath.
func goGroup(text []byte, absolute bool) (group string, version int, why string) {
	if text == nil {
		return "", 0, procSelfCgroup + "cannot be read"
	}
	for _, l := range goLines(text) {
		if l.cut {
			return "", 0, procSelfCgroup + goLineOver
		}
		hierarchy, rest, ok1 := strings.Cut(l.text, ":")
		controllers, path, ok2 := strings.Cut(rest, ":")
		switch {
		case !ok1 || !ok2, absolute && !strings.HasPrefix(path, "/"):
			return "", 0, procSelfCgroup + goMalformed + quote(l.text)
		case absolute && len(path) > goPathMax:
			return "", 0, procSelfCgroup + "has a path longer than 4096 bytes"
		case hierarchy == "0":
			group, version = path, 2
		case hasItem(controllers, "cpu"):
			return path, 1, ""
		}
	}
	if group == "" {
		return "", 0, "it is in no cgroup of the cpu controller"
	}
	return group, version, ""
}

// goMountOf is parseCPUMount of Go 1.26: the first mount whose root holds the
// group. Every line before that one must make sense to it.
func goMountOf(text []byte, group string, version int) (dir, why string) {
	if text == nil {
		return "", procSelfMountinfo + "cannot be read"
	}
	for _, l := range goLines(text) {
		m, ok := goMountLine(l.text)
		if !ok || !strings.HasPrefix(m.root, "/") {
			return "", procSelfMountinfo + goMalformed + quote(l.text)
		}
		if version == 2 && m.fstype != "cgroup2" || version == 1 && m.fstype != "cgroup" {
			continue
		}
		if version == 1 {
			_, options, ok := strings.Cut(m.rest, " ")
			if !ok {
				return "", procSelfMountinfo + goMalformed + quote(l.text)
			}
			if !hasItem(options, "cpu") {
				continue
			}
		}
		root, ok := goUnescape(m.root, true)
		if !ok {
			return "", procSelfMountinfo + goMalformed + quote(l.text)
		}
		below, shown := goBelow(group, root)
		if !shown {
			continue
		}
		point, ok := goUnescape(m.point, true)
		if !ok {
			return "", procSelfMountinfo + goMalformed + quote(l.text)
		}
		if len(point)+len(below) > goPathMax {
			return "", "the path of its cgroup is longer than 4096 bytes"
		}
		return point + below, ""
	}
	return "", "no mount shows its cgroup " + group
}

// goBelow is the group's path below the mount's root, where the mount shows it.
func goBelow(group, root string) (below string, shown bool) {
	below = group
	switch {
	case root != "/":
		if !goHasPrefix(group, root) {
			return "", false
		}
		below = group[len(root):]
	case group == "/":
		below = ""
	}
	return below, !goHasPrefix(below, "/..")
}

func goHasPrefix(p, prefix string) bool {
	rest, ok := strings.CutPrefix(p, prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// goMountPoint is parseCPUMount of Go 1.25.
func goMountPoint(text []byte) (point, why string) {
	if text == nil {
		return "", procSelfMountinfo + "cannot be read"
	}
	for _, l := range goLines(text) {
		m, ok := goMountLine(l.text)
		v1 := false
		if ok && m.fstype == "cgroup" {
			var options string
			_, options, ok = strings.Cut(m.rest, " ")
			v1 = hasItem(options, "cpu")
		}
		if ok && (v1 || m.fstype == "cgroup2") {
			point, ok = goUnescape(m.point, false)
		}
		if !ok {
			return "", procSelfMountinfo + goMalformed + quote(l.text)
		}
		if v1 {
			return point, ""
		}
	}
	if point == "" {
		return "", "no cgroup is mounted"
	}
	return point, ""
}
