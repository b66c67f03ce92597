package facts

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// automaxprocsPlace is where automaxprocs v1.6.0 looks for the limit, or why it
// gives up.
type automaxprocsPlace struct {
	version   int    // 1 or 2
	dir       string // of the group
	mountRoot string // which for v2 it does not take into account
	why       string
}

// scanLimit is the longest line that automaxprocs reads, in bytes: the buffer
// of a bufio.Scanner.
const scanLimit = 64*1024 - 1

// findAutomaxprocs repeats its two searches. The first is for a v2 mount at
// /sys/fs/cgroup and assumes that its root is "/". The second, for v1, fails on any
// controller that it cannot translate, not only on the CPU controller. Every line of both
// files must be valid, also those of other file systems.
func findAutomaxprocs(mountinfo, procCgroup []byte) automaxprocsPlace {
	giveUp := func(why string) automaxprocsPlace { return automaxprocsPlace{why: why} }
	mounts, why := strictMounts(mountinfo)
	if why != "" {
		return giveUp("/proc/self/mountinfo " + why)
	}
	groups, why := strictGroups(procCgroup)
	for _, m := range mounts {
		if m.fstype != "cgroup2" || m.point != "/sys/fs/cgroup" {
			continue
		}
		if why != "" {
			return giveUp("/proc/self/cgroup " + why)
		}
		for _, g := range groups {
			if g.id == 0 {
				return automaxprocsPlace{version: 2, dir: path.Join(m.point, g.path), mountRoot: m.root}
			}
		}
		break
	}
	if why != "" {
		return giveUp("/proc/self/cgroup " + why)
	}
	place := giveUp("it finds no CPU cgroup")
	for _, m := range mounts {
		if m.fstype != "cgroup" {
			continue
		}
		for _, option := range strings.Split(m.options, ",") {
			g, ok := groups[option]
			if !ok {
				continue
			}
			dir, ok := translate(m, g.path)
			if !ok {
				return giveUp("the mount at " + m.point + " shows " + m.root + " and not the cgroup " + g.path + " of controller " + option + ", which automaxprocs treats as an error for every controller")
			}
			if option == "cpu" { // the last one counts
				place = automaxprocsPlace{version: 1, dir: dir, mountRoot: m.root}
			}
		}
	}
	return place
}

// translate is the path at which the mount shows the cgroup. It compares cleaned paths,
// in which a cgroup of another cgroup namespace ("/../x") is "/x".
func translate(m strictMount, group string) (string, bool) {
	root, group := path.Clean(m.root), path.Clean(group)
	if !path.IsAbs(root) || !path.IsAbs(group) || !path.IsAbs(m.point) {
		return "", false
	}
	if root == "/" {
		return path.Join(m.point, group), true
	}
	rest, ok := strings.CutPrefix(group, root)
	return path.Join(m.point, rest), ok && (rest == "" || rest[0] == '/')
}

type strictMount struct{ root, point, fstype, options string }

// strictMounts uses the fields as they are, with their escapes.
func strictMounts(b []byte) (mounts []strictMount, why string) {
	if b == nil {
		return nil, "cannot be read"
	}
	for _, line := range scanLines(b) {
		if len(line) > scanLimit {
			return nil, "has a line longer than 64 KiB"
		}
		bad := func() ([]strictMount, string) {
			return nil, "has a line that automaxprocs cannot read: " + cgfs.Quote(line)
		}
		fields := strings.Split(line, " ")
		if len(fields) < 10 {
			return bad()
		}
		for _, id := range fields[:2] {
			if _, err := strconv.Atoi(id); err != nil {
				return bad()
			}
		}
		dash := 6 + slices.Index(fields[6:], "-")
		if dash < 6 || dash+3 >= len(fields) {
			return bad()
		}
		if fstype := fields[dash+1]; fstype != "cgroup" && fstype != "cgroup2" {
			continue
		}
		mounts = append(mounts, strictMount{
			root: fields[3], point: fields[4], fstype: fields[dash+1], options: strings.Join(fields[dash+3:], " "),
		})
	}
	return mounts, ""
}

type strictGroup struct {
	id   int
	path string
}

// strictGroups is by controller; the controller of the v2 line is "".
func strictGroups(b []byte) (groups map[string]strictGroup, why string) {
	if b == nil {
		return nil, "cannot be read"
	}
	groups = map[string]strictGroup{}
	for _, line := range scanLines(b) {
		fields := strings.SplitN(line, ":", 3)
		if len(line) > scanLimit || len(fields) != 3 {
			return nil, "has a line that automaxprocs cannot read: " + cgfs.Quote(line)
		}
		id, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, "has a line that automaxprocs cannot read: " + cgfs.Quote(line)
		}
		for _, controller := range strings.Split(fields[1], ",") {
			groups[controller] = strictGroup{id: id, path: fields[2]}
		}
	}
	return groups, ""
}

// scanLines cuts as bufio.ScanLines does.
func scanLines(b []byte) []string {
	lines := make([]string, 0, bytes.Count(b, []byte("\n"))+1)
	for rest := string(b); rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		lines, rest = append(lines, strings.TrimSuffix(line, "\r")), after
	}
	return lines
}
