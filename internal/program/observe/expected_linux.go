//go:build !portable

package observe

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/rule"
)

// mostEnviron is more than the environment of a process that somebody started on purpose.
const mostEnviron = 1 << 20

// expectedOf reads what is kept with the program of a process: in its environment, else in
// the file next to its executable, as the process sees it. What may not be read is not
// there. What a process inherited from a Go program is not about the process, unless it is named
// there.
func (r *Reader) expectedOf(stat procstat.Stat, name, variable string) (e *rule.Expected, wrong string) {
	if variable != "" {
		e, wrong = parse([]byte(variable), expected.Variable+" in its environment")
		if e != nil && e.Program == name || !r.inherited(stat.Parent, []byte(variable)) {
			return e, wrong
		}
	}
	proc := procDir(stat.PID)
	exe, err := os.Readlink(proc + "/exe")
	if err != nil {
		return nil, ""
	}
	file, root := strings.TrimSuffix(exe, " (deleted)")+expected.Suffix, proc+"/root"
	if unix.Lstat(root+file, new(unix.Stat_t)) != nil { // which is one system call, and mostly the last
		return nil, ""
	}
	text, err := readAsSeen(root, strings.TrimPrefix(file, "/"))
	if err != nil {
		return nil, ""
	}
	return parse(text, file)
}

func parse(text []byte, from string) (e *rule.Expected, wrong string) {
	e, err := expected.Parse(text)
	if err != nil {
		return nil, from + ": " + err.Error()
	}
	return e, ""
}

// mostAbove is more than the shells and go commands through which a service is started. Anybody
// can start a chain of thousands, and all of it would be read for each program at its end.
const mostAbove = 8

// inherited reports whether a Go program at or above the parent has the same variable: it was
// set for that one. A shell or the go command only starts the program.
func (r *Reader) inherited(parent int, text []byte) bool {
	for above := 0; bytes.Equal(variableOf(parent), text); above++ {
		if above == mostAbove {
			return true
		}
		p, err := r.Learn(context.Background(), parent) // which has a bound of its own
		if err == nil && !p.Program().Toolchain() {
			return true
		}
		stat, err := procstat.ReadStat(parent)
		if err != nil {
			return false
		}
		parent = stat.Parent
	}
	return false
}

// variableOf is the expected value in the environment of a process; nil: none is there.
func variableOf(pid int) []byte {
	f, err := os.Open(filepath.Join(procDir(pid), "environ"))
	if err != nil {
		return nil
	}
	defer f.Close()
	environ, _ := io.ReadAll(io.LimitReader(f, mostEnviron))
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(expected.Variable+"=")); ok && len(value) > 0 {
			return value
		}
	}
	return nil
}

func procDir(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid)) }

// readAsSeen reads a file below a root. The file belongs to somebody else.
func readAsSeen(root, name string) ([]byte, error) {
	below, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer below.Close()
	f, err := folder.OpenBelow(below, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, expected.MostBytes+1))
}
