package facts

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

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
	for n := 0; n < 5; n++ {
		var f string
		if f, line, ok = strings.Cut(line, " "); !ok {
			return goMount{}, false
		}
		switch n {
		case 3:
			m.root = f
		case 4:
			m.point = f
		}
	}
	// The dash stands between two spaces, the first of which may not be the one
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

// hasItem reports whether a comma-separated list holds the name.
func hasItem(list, name string) bool {
	for _, item := range strings.Split(list, ",") {
		if item == name {
			return true
		}
	}
	return false
}

func quote(text string) string { return cgfs.Quote(text) }

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
