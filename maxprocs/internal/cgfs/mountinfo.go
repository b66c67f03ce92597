package cgfs

// Mount is one cgroup mount.
type Mount struct {
	Version int    // 1 or 2
	CPU     bool   // v1: the hierarchy has the cpu controller
	Memory  bool   // v1: it has the memory controller
	Root    string // the group that appears at Point, as the reader's cgroup namespace shows it
	Point   string
}

// usualMounts is room for the cgroup mounts of most systems: v1 has a dozen
// hierarchies and systemd's, v2 is one.
const usualMounts = 16

// ParseMountinfo reads the cgroup mounts from the text of /proc/PID/mountinfo,
// in its order. Each line is
//
//	36 35 98:0 /ROOT /POINT rw,noatime master:1 - TYPE SOURCE SUPER,OPTIONS
//
// with any number of fields before the lone dash (man 5 proc_pid_mountinfo).
// Lines have no length limit: an overlay's options alone can exceed 64 KiB.
// Lines of other file systems are not looked into. bad is the first cgroup
// line that could not be read; the others count all the same.
func ParseMountinfo(text string) (mounts []Mount, bad error) {
	for text != "" {
		var line string
		line, text, _ = cut(text, "\n")
		// Spaces in paths are escaped, so the first " - " is the separator.
		head, tail, ok := cut(line, " - ")
		if !ok {
			continue
		}
		fstype, rest, _ := cut(tail, " ")
		m := Mount{}
		switch fstype {
		case "cgroup":
			m.Version = 1
			_, options, _ := cut(rest, " ")
			m.CPU, m.Memory = hasOption(options, CPU), hasOption(options, Memory)
		case "cgroup2":
			m.Version = 2
		default:
			continue
		}
		root, point, err := paths(head)
		if err == nil {
			m.Root, err = unescapePath(root)
		}
		if err == nil {
			m.Point, err = unescapePath(point)
		}
		if err != nil {
			if bad == nil {
				bad = err
			}
			continue
		}
		if mounts == nil {
			mounts = make([]Mount, 0, usualMounts)
		}
		mounts = append(mounts, m)
	}
	return mounts, bad
}

// paths are the fourth and fifth of at least six fields.
func paths(head string) (root, point string, err error) {
	rest := head
	for n := 0; n < 6; n++ {
		var f string
		if f, rest = field(rest); f == "" {
			return "", "", Error("expected at least 6 fields before \" - \", got " + Quote(head))
		}
		switch n {
		case 3:
			root = f
		case 4:
			point = f
		}
	}
	return root, point, nil
}

// unescapePath undoes the kernel's octal escapes (\040 for a space; show_path
// escapes space, tab, newline and backslash) and demands an absolute path.
func unescapePath(text string) (string, error) {
	if text == "" || text[0] != '/' {
		return "", Error("expected an absolute path, got " + Quote(text))
	}
	if _, _, escaped := cut(text, `\`); !escaped {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' {
			if i+3 >= len(text) || text[i+1] > '3' || !octal(text[i+1]) || !octal(text[i+2]) || !octal(text[i+3]) {
				return "", Error("bad octal escape in " + Quote(text))
			}
			c = (text[i+1]-'0')<<6 | (text[i+2]-'0')<<3 | (text[i+3] - '0')
			i += 3
		}
		out = append(out, c)
	}
	return string(out), nil
}

func octal(c byte) bool { return '0' <= c && c <= '7' }

// Dir is where the mount shows the group, if it does. A group outside of the
// mount's root is not shown; one outside of the reader's cgroup namespace has
// a path that begins with "/..", whose name below a mount of the namespace's
// own parent cgroups cannot be known: see Above.
func (m Mount) Dir(group string) (string, bool) {
	rel := group
	if m.Root != "/" {
		var ok bool
		if rel, ok = cutPathPrefix(group, m.Root); !ok {
			return "", false
		}
	}
	if _, _, above := cut(rel+"/", "/../"); above {
		return "", false
	}
	if rel == "" || rel == "/" {
		return m.Point, true
	}
	return Join(m.Point, rel[1:]), true
}

// Above reports whether the mount's root is a parent cgroup of the group by the dots
// alone, "/.." of "/x": the root of a cgroup namespace that was entered without a
// new mount is below it, under a name that nothing tells. So the mount does not
// show the group, and what limits its root limits the group all the same.
func (m Mount) Above(group string) bool {
	up, rest := climb(m.Root)
	own, _ := climb(group)
	return rest == "" && up > own
}

// climb counts the leading "/.." of a path.
func climb(path string) (up int, rest string) {
	for {
		r, ok := cutPathPrefix(path, "/..")
		if !ok {
			return up, path
		}
		up, path = up+1, r
	}
}

// cutPathPrefix cuts a prefix that ends at a path boundary.
func cutPathPrefix(p, prefix string) (string, bool) {
	if len(p) < len(prefix) || p[:len(prefix)] != prefix {
		return "", false
	}
	rest := p[len(prefix):]
	return rest, rest == "" || rest[0] == '/'
}

// Showing are the mounts that show the group, those that show most of its
// parent cgroups first, else in mountinfo's order.
func (m Membership) Showing(mounts []Mount) []Mount {
	var out []Mount
	for _, mnt := range mounts {
		if _, ok := mnt.Dir(m.Path); !ok || !m.in(mnt) {
			continue
		}
		out = append(out, mnt)
		for i := len(out) - 1; i > 0 && out[i].depth() < out[i-1].depth(); i-- {
			out[i], out[i-1] = out[i-1], out[i]
		}
	}
	return out
}

func (m Membership) in(mnt Mount) bool {
	return mnt.Version == m.Version && (m.Version == 2 || m.Controller == CPU && mnt.CPU || m.Controller == Memory && mnt.Memory)
}

// Above are the mounts that show no more of the group than a parent cgroup, in
// mountinfo's order. One that a later mount at the same place covers shows nothing.
func (m Membership) Above(mounts []Mount) []Mount {
	var out []Mount
	for i, mnt := range mounts {
		if m.in(mnt) && mnt.Above(m.Path) && !mnt.covered(mounts[i+1:]) {
			out = append(out, mnt)
		}
	}
	return out
}

func (m Mount) covered(later []Mount) bool {
	for _, l := range later {
		if l.Point == m.Point {
			return true
		}
	}
	return false
}

func (m Mount) depth() (n int) {
	for i := 0; i < len(m.Root)-1; i++ {
		if m.Root[i] == '/' {
			n++
		}
	}
	return n
}

// The controllers whose limits are read.
const (
	CPU    = "cpu"
	Memory = "memory"
)

// Membership is a process's place in a controller's hierarchy.
type Membership struct {
	Version int // 0: in none
	Path    string
	Line    string // raw

	Controller string
}

// ParseMembership finds the hierarchy of a controller in the text of
// /proc/PID/cgroup. Each line is
//
//	HIERARCHY-ID:CONTROLLER,CONTROLLER…:PATH
//
// and the v2 hierarchy's begins with "0::". A controller is in one hierarchy
// only, so a v1 line that names it settles it (man 7 cgroups). A line that
// cannot be read is an error only when no line answers.
func ParseMembership(text, controller string) (Membership, error) {
	var v2 Membership
	var bad error
	for len(text) > 0 {
		var line string
		line, text, _ = cut(text, "\n")
		if line == "" {
			continue
		}
		id, rest, ok1 := cut(line, ":")
		controllers, path, ok2 := cut(rest, ":")
		if !ok1 || !ok2 || path == "" || path[0] != '/' {
			if bad == nil {
				bad = Error("expected \"ID:CONTROLLERS:/PATH\", got " + Quote(line))
			}
			continue
		}
		switch {
		case id == "0" && controllers == "":
			v2 = Membership{Version: 2, Path: path, Line: line, Controller: controller}
		case hasOption(controllers, controller):
			return Membership{Version: 1, Path: path, Line: line, Controller: controller}, nil
		}
	}
	if v2.Version == 2 {
		return v2, nil
	}
	return Membership{}, bad
}

func hasOption(list, name string) bool {
	for list != "" {
		var item string
		item, list, _ = cut(list, ",")
		if item == name {
			return true
		}
	}
	return false
}
