package maxprocs

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// mount is one cgroup mount.
type mount struct {
	version int    // 1 or 2
	cpu     bool   // v1: the hierarchy has the cpu controller
	root    string // the group that appears at point, as the reader's cgroup namespace shows it
	point   string
}

// parseMountinfo reads the cgroup mounts from the text of /proc/PID/mountinfo,
// in its order. Each line is
//
//	36 35 98:0 /ROOT /POINT rw,noatime master:1 - TYPE SOURCE SUPER,OPTIONS
//
// with any number of fields before the lone dash (man 5 proc_pid_mountinfo).
// Lines have no length limit: an overlay's options alone can exceed 64 KiB.
// Lines of other file systems are not looked into. bad is the first cgroup
// line that could not be read; the others count all the same.
func parseMountinfo(b []byte) (mounts []mount, bad error) {
	for len(b) > 0 {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte("\n"))
		// Spaces in paths are escaped, so the first " - " is the separator.
		head, tail, ok := bytes.Cut(line, []byte(" - "))
		if !ok {
			continue
		}
		fstype, rest, _ := bytes.Cut(tail, []byte(" "))
		m := mount{}
		switch string(fstype) {
		case "cgroup":
			m.version = 1
			_, options, _ := bytes.Cut(rest, []byte(" "))
			m.cpu = hasOption(options, "cpu")
		case "cgroup2":
			m.version = 2
		default:
			continue
		}
		fields := bytes.Fields(head)
		var err error
		if len(fields) < 6 {
			err = fmt.Errorf("want at least 6 fields before \" - \", have %s", quote(line))
		} else if m.root, err = unescapePath(fields[3]); err == nil {
			m.point, err = unescapePath(fields[4])
		}
		if err != nil {
			if bad == nil {
				bad = err
			}
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts, bad
}

// unescapePath undoes the kernel's octal escapes (\040 for a space; show_path
// escapes space, tab, newline and backslash) and demands an absolute path.
func unescapePath(b []byte) (string, error) {
	if len(b) == 0 || b[0] != '/' {
		return "", fmt.Errorf("want an absolute path, have %s", quote(b))
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b), nil
	}
	var out strings.Builder
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			out.WriteByte(b[i])
			continue
		}
		if i+3 >= len(b) || b[i+1] > '3' || !octal(b[i+1]) || !octal(b[i+2]) || !octal(b[i+3]) {
			return "", fmt.Errorf("bad octal escape in %s", quote(b))
		}
		out.WriteByte((b[i+1]-'0')<<6 | (b[i+2]-'0')<<3 | (b[i+3] - '0'))
		i += 3
	}
	return out.String(), nil
}

func octal(c byte) bool { return '0' <= c && c <= '7' }

// dir is where the mount shows the group, if it does. A group outside of the
// mount's root is not shown; one outside of the reader's cgroup namespace has
// a path that begins with "/..", whose name below a mount of the namespace's
// own ancestors cannot be known.
func (m mount) dir(group string) (string, bool) {
	rel := group
	if m.root != "/" {
		var ok bool
		if rel, ok = cutPathPrefix(group, m.root); !ok {
			return "", false
		}
	}
	if strings.Contains(rel+"/", "/../") {
		return "", false
	}
	return path.Join(m.point, rel), true
}

// cutPathPrefix cuts a prefix that ends at a path boundary.
func cutPathPrefix(p, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(p, prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}
