// Package cgroup has the names of internal/runtime/cgroup that Go's own tests of
// it use, and answers with the policy go.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"
	"testing/fstest"

	"github.com/procfit/procfit/maxprocs/facts"
)

// As there.
const (
	PathSize    = 4096
	ParseSize   = 4 * 4 * 4096
	ScratchSize = PathSize + ParseSize
)

type Version int

const (
	VersionUnknown Version = iota
	V1
	V2
)

// ErrMalformedFile stands for every reason: the policy tells them in words.
var ErrMalformedFile = errors.New("nothing found")

// machine is a tree in which every directory has a limit of its own, by which it
// is known, or the one that is given.
type machine struct {
	cgroup, mountinfo string
	limit             func(file string) (string, bool)
	looked            []string
}

func (m *machine) text(name string) (string, bool) {
	switch name {
	case "proc/self/cgroup":
		return m.cgroup, true
	case "proc/self/mountinfo":
		return m.mountinfo, true
	case "proc/self/status":
		return fmt.Sprintf("Cpus_allowed_list:\t0-%d\n", 60_000), true
	}
	if m.limit != nil {
		return m.limit(path.Base(name))
	}
	switch dir, base := path.Split(name); base {
	case "cpu.max":
		return fmt.Sprintf("%d 1\n", m.number("/"+dir+base)), true
	case "cpu.cfs_quota_us":
		return fmt.Sprintf("%d\n", m.number("/"+dir+base)), true
	case "cpu.cfs_period_us":
		return "1\n", true
	}
	return "", false
}

func (m *machine) number(file string) int {
	for i, f := range m.looked {
		if f == file {
			return 10 + i
		}
	}
	m.looked = append(m.looked, file)
	return 9 + len(m.looked)
}

func (m *machine) Stat(name string) (fs.FileInfo, error) {
	if name == "proc/self" || path.Base(name) == "cgroup.procs" {
		return fstest.MapFS{}.Stat(".")
	}
	f, err := m.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

func (m *machine) Open(name string) (fs.File, error) {
	text, ok := m.text(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return fstest.MapFS{"f": {Data: []byte(text)}}.Open("f")
}

// decide is what the policy weighs as the limit, in CPUs.
func (m *machine) decide() (cpus float64, ok bool, own facts.State) {
	f, err := facts.ReadFS(m, 0)
	if err != nil {
		panic(err)
	}
	if l, ok := f.Own(); ok {
		own = l.State
	}
	for _, c := range facts.Decide(f, facts.Go{Version: release}).Candidates {
		if c.Procs != 60_001 || c.File != "/proc/self/status" {
			return c.CPUs, true, own
		}
	}
	return 0, false, own
}

// found is the file by whose limit the policy goes.
func (m *machine) found() (dir string, version Version, err error) {
	cpus, ok, _ := m.decide()
	if !ok {
		return "", 0, ErrMalformedFile
	}
	dir, base := path.Split(m.looked[int(cpus)-10])
	version = V2
	if base != "cpu.max" {
		version = V1
	}
	return "/" + strings.Trim(dir, "/"), version, nil
}

func readAll(read func(int, []byte) (int, uintptr)) string {
	var text []byte
	for b := make([]byte, 4096); ; {
		n, errno := read(0, b)
		if n <= 0 || errno != 0 {
			return string(text)
		}
		text = append(text, b[:n]...)
	}
}

const v2Mount = "1 1 0:1 / /m rw - cgroup2 c rw\n"

// membership is ParseCPUCgroup, before 1.26 ParseCPURelativePath.
func membership(read func(int, []byte) (int, uintptr), out []byte) (int, Version, error) {
	text := readAll(read)
	for _, mount := range []string{"1 1 0:1 / /m rw - cgroup c rw,cpu\n", v2Mount} {
		dir, version, err := (&machine{cgroup: text, mountinfo: mount}).found()
		if group, ok := strings.CutPrefix(dir, "/m"); ok && err == nil {
			return copy(out, "/"+strings.TrimPrefix(group, "/")), version, nil
		}
	}
	return 0, 0, ErrMalformedFile
}

func ContainsCPU(list []byte) bool {
	m := machine{cgroup: "1:cpu:/\n", mountinfo: "1 1 0:1 / /m rw - cgroup c " + string(list) + "\n"}
	_, _, err := m.found()
	return err == nil
}

func UnescapePath(out, in []byte) (int, error) {
	m := machine{cgroup: "0::/\n", mountinfo: "1 1 0:1 / " + string(in) + " rw - cgroup2 c rw\n"}
	dir, _, err := m.found()
	if err == nil && in[0] != '/' && !strings.HasPrefix(string(in), `\057`) {
		dir = dir[1:] // a mount point is absolute, and so is what found gives
	}
	if err != nil || len(dir) > len(out) {
		return 0, ErrMalformedFile
	}
	return copy(out, dir), nil
}

func ParseV1Number(text []byte) (int64, error) {
	m := machine{cgroup: "1:cpu:/\n", mountinfo: "1 1 0:1 / /m rw - cgroup c rw,cpu\n"}
	m.limit = func(file string) (string, bool) {
		if file == "cpu.cfs_quota_us" {
			return string(text), true
		}
		return "1\n", file == "cpu.cfs_period_us"
	}
	cpus, ok, own := m.decide()
	switch {
	case !ok && own == facts.NoLimit:
		return -1, nil
	case !ok:
		return 0, ErrMalformedFile
	case cpus >= math.MaxInt64:
		return math.MaxInt64, nil
	}
	return int64(cpus), nil
}

func ParseV2Limit(text []byte) (float64, bool, error) {
	m := machine{cgroup: "0::/\n", mountinfo: v2Mount}
	m.limit = func(file string) (string, bool) { return string(text), file == "cpu.max" }
	cpus, ok, own := m.decide()
	if !ok && own != facts.NoLimit {
		return 0, false, ErrMalformedFile
	}
	return cpus, ok, nil
}
