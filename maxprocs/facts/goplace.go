package facts

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

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
			return "", 0, procSelfCgroup + goMalformed + cgfs.Quote(l.text)
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
			return "", procSelfMountinfo + goMalformed + cgfs.Quote(l.text)
		}
		if version == 2 && m.fstype != "cgroup2" || version == 1 && m.fstype != "cgroup" {
			continue
		}
		if version == 1 {
			_, options, ok := strings.Cut(m.rest, " ")
			if !ok {
				return "", procSelfMountinfo + goMalformed + cgfs.Quote(l.text)
			}
			if !hasItem(options, "cpu") {
				continue
			}
		}
		root, ok := goUnescape(m.root, true)
		if !ok {
			return "", procSelfMountinfo + goMalformed + cgfs.Quote(l.text)
		}
		below, shown := goBelow(group, root)
		if !shown {
			continue
		}
		point, ok := goUnescape(m.point, true)
		if !ok {
			return "", procSelfMountinfo + goMalformed + cgfs.Quote(l.text)
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
			return "", procSelfMountinfo + goMalformed + cgfs.Quote(l.text)
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

// goLine is what the runtime's line reader gives: one that is cut had no room, or
// no newline.
type goLine struct {
	text string
	cut  bool
}

func goLines(text []byte) []goLine {
	lines := make([]goLine, 0, bytes.Count(text, []byte("\n"))+1)
	for rest := string(text); rest != ""; {
		line, after, ended := strings.Cut(rest, "\n")
		l := goLine{text: line, cut: !ended || len(line) >= goLineMax}
		if len(line) > goLineMax {
			l.text = line[:goLineMax]
		}
		lines, rest = append(lines, l), after
	}
	return lines
}

// goMount is a line of mountinfo as the runtime takes it apart: one space between
// fields, and no escapes undone.
type goMount struct{ root, point, fstype, rest string }

func goMountLine(line string) (m goMount, ok bool) {
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 6 {
		return goMount{}, false
	}
	m.root, m.point, line = fields[3], fields[4], fields[5]
	// The dash is between two spaces, the first of which may not be the one
	// after the mount point.
	for {
		i := strings.IndexByte(line, ' ')
		if i < 0 || i+3 >= len(line) {
			return goMount{}, false
		}
		if line[i:i+3] == " - " {
			line = line[i+3:]
			break
		}
		line = line[i+1:]
	}
	m.fstype, m.rest, ok = strings.Cut(line, " ")
	return m, ok
}

// goUnescape undoes octal escapes. Go 1.25 takes any three digits, and of their
// value the lowest eight bits.
func goUnescape(text string, strict bool) (string, bool) {
	if !strings.Contains(text, `\`) {
		return text, true
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		if i+3 >= len(text) {
			return "", false
		}
		n := 0
		for _, c := range []byte(text[i+1 : i+4]) {
			if c < '0' || c > '9' || strict && c > '7' {
				return "", false
			}
			n = n*8 + int(c-'0')
		}
		if strict && n > 0xff {
			return "", false
		}
		out = append(out, byte(n))
		i += 3
	}
	return string(out), true
}

func hasItem(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

// parseGoVersion returns the minor release of "1.26", "go1.26.8", "go1.27rc1",
// "go1.26.8 X:nodwarf5" or "devel go1.28-…". No default changed within a minor release.
func parseGoVersion(version string) (minor int, err error) {
	v := version
	for _, field := range strings.Fields(version) {
		if strings.HasPrefix(field, "go1") || strings.HasPrefix(field, "1") {
			v = field
			break
		}
	}
	v = strings.TrimPrefix(v, "go")
	if v == "1" {
		return 0, nil // the first release
	}
	rest, ok := strings.CutPrefix(v, "1.")
	end := 0
	for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
		end++
	}
	minor, err = strconv.Atoi(rest[:end])
	if !ok || err != nil || minor > 1e4 {
		return 0, fmt.Errorf("expected a Go version such as 1.26 or go1.26.8, got %q", version)
	}
	return minor, nil
}
