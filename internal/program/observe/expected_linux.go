//go:build !portable

package observe

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/rule"
)

// mostEnviron is more than the environment of a process that somebody started on purpose.
const mostEnviron = 1 << 20

// expectedOf reads what is kept with the program of a process: in its environment, else in
// the file next to its executable, as the process sees it. What may not be read is not
// there.
func expectedOf(pid int) (e *rule.Expected, wrong string) {
	text, from := expectedText(filepath.Join("/proc", strconv.Itoa(pid)))
	if from == "" {
		return nil, ""
	}
	e, err := expected.Parse(text)
	if err != nil {
		return nil, from + ": " + err.Error()
	}
	return e, ""
}

// expectedText is the text, and where it is; empty: there is none.
func expectedText(proc string) (text []byte, from string) {
	environ, _ := environOf(proc)
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(expected.Variable+"=")); ok && len(value) > 0 {
			return value, expected.Variable + " in its environment"
		}
	}
	exe, err := os.Readlink(filepath.Join(proc, "exe"))
	if err != nil {
		return nil, ""
	}
	file := strings.TrimSuffix(exe, " (deleted)") + expected.Suffix
	text, err = readAsSeen(filepath.Join(proc, "root"), strings.TrimPrefix(file, "/"))
	if err != nil {
		return nil, ""
	}
	return text, file
}

func environOf(proc string) ([]byte, error) {
	f, err := os.Open(filepath.Join(proc, "environ"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostEnviron))
}

var errNotRegular = errors.New("it is not a regular file")

// readAsSeen reads a file below a root. A link that leads out of it is not followed, and a
// pipe is not waited for: the file belongs to somebody else.
func readAsSeen(root, name string) ([]byte, error) {
	below, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer below.Close()
	f, err := below.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, &fs.PathError{Op: "read", Path: name, Err: errNotRegular})
	}
	return io.ReadAll(io.LimitReader(f, expected.MostBytes+1))
}
