// Package goproc reads Go programs from outside: on disk what the linker wrote
// into them, live what the runtime has in memory: GOMAXPROCS, the number of CPUs
// that it counted, whether GOMAXPROCS was set, the histogram of scheduling
// latencies, and what the garbage collector has done.
//
// These are the variables runtime.gomaxprocs, ncpu (numCPUStartup) and fields of
// sched. Their addresses come from the symbol table or, in a stripped program, from
// machine code: functions that are linked into every Go program and use them are
// found by name in the runtime's own function table (pclntab), which no stripping
// removes, and what they do with variables is decoded and compared. The offsets in
// sched are known for each release, and are not believed alone: the symbol must
// have that release's size, or the code must use every field at its offset; what is
// read must be possible. Where anything does not add up, the value is not known.
//
// The collector's accounting, in memstats and work, is found in another way: by what must
// be true of it, which nothing else among a program's variables fulfils by chance.
//
// The values are then three preads of /proc/PID/mem. The target is not stopped, and
// nothing is ever written to it: writing gomaxprocs hangs a program, since its Ps
// are not resized with it.
//
// A file is analysed once and kept in a Cache. A file is never trusted, as it may be
// another user's, written to harm who reads it: every read is bounded, and all reads
// of one file together; tables are read in pieces, names and texts up to a size; and
// what does not add up is an error. The bounds come from real programs, the largest
// of 707 MB.
//
// Limits: live values need Linux; decoding needs amd64 or arm64 code of Go 1.18 or
// newer; docs/evidence/live-values.md has the releases and what can be read of each. Of a process
// whose executable is not Go's, the first Go library or program among its mappings is read; a second
// one is not seen. A process in a time namespace that is ahead of ours shows nothing of sched. The
// values are of a few microseconds, and not of one instant.
package goproc

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
)

// Program is what the linker wrote into a Go program.
type Program struct {
	GoVersion      string // as the toolchain names itself: "go1.26.1"; "" if the build has another text
	Path           string // of the main package; "command-line-arguments" when built from files
	MainModule     string // empty when built outside a module
	DefaultGODEBUG string // the GODEBUG defaults that the go.mod or the source asked for
	GOARCH         string // as it was built for; "" before Go 1.18
	Library        bool   // it is a shared library, built with -buildmode=c-shared
	Mapped         string // of a process whose executable is another file: the name of this one
	Deps           []*debug.Module
	Code           Code // of Read and ReadStream
}

// automaxprocs is a module that sets GOMAXPROCS when it is imported.
const automaxprocs = "go.uber.org/automaxprocs"

// Toolchain reports whether the program is a part of Go itself: the go command, the
// compiler, the linker.
func (p Program) Toolchain() bool { return strings.HasPrefix(p.Path, "cmd/") }

// Open reads the program at path, for any system that Go builds for.
func Open(path string) (Program, error) {
	f, err := os.Open(path)
	if err != nil {
		return Program{}, err
	}
	defer f.Close()
	p, err := Read(f)
	if err != nil {
		return Program{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// maxForeign bounds what debug/buildinfo reads, in bytes: the tables of symbols of
// a large program for macOS are tens of megabytes.
const maxForeign = 256 << 20

// Read reads a program from its file. A file that is no ELF is debug/buildinfo's,
// whose readers of those formats can be made to take much memory by whoever wrote
// it; no file of a live process is read so.
func Read(r io.ReaderAt) (Program, error) {
	elf, err := isELF(r)
	if err != nil {
		return Program{}, err
	}
	if elf {
		return readAll(r)
	}
	b := &budget{r: r, left: maxForeign}
	info, err := buildinfo.Read(b)
	switch {
	case b.broken != nil:
		return Program{}, b.broken
	case err != nil:
		return Program{}, notGo(err)
	}
	return programOf(info), nil
}

// readAll reads an ELF file with its Code.
func readAll(r io.ReaderAt) (Program, error) {
	p, m, err := readProgram(r)
	if err == nil {
		p.Code = m.code()
	}
	return p, err
}

// readProgram reads an ELF file, which may be another user's.
func readProgram(r io.ReaderAt) (Program, *image, error) {
	m, err := readImage(r)
	if err != nil {
		return Program{}, nil, notGo(err)
	}
	info, err := m.buildInfo()
	switch {
	case err != nil:
		return Program{}, nil, err
	case info == nil:
		return Program{}, nil, fmt.Errorf("%w (no build info of Go 1.13 or newer)", ErrNotGo)
	}
	return programOf(info), m, nil
}

// notGo keeps an error of the system apart from a file that is no Go program.
func notGo(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) || errors.Is(err, ErrNotGo) {
		return err
	}
	return fmt.Errorf("%w (%v)", ErrNotGo, err)
}

func programOf(info *debug.BuildInfo) Program {
	p := Program{
		GoVersion:  info.GoVersion,
		Path:       info.Path,
		MainModule: info.Main.Path,
		Deps:       info.Deps,
	}
	if !strings.HasPrefix(p.GoVersion, "go") && !strings.HasPrefix(p.GoVersion, "devel go") { // -X=runtime.buildVersion=unknown
		p.GoVersion = ""
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "DefaultGODEBUG":
			p.DefaultGODEBUG = s.Value
		case "GOARCH":
			p.GOARCH = s.Value
		case "-buildmode":
			p.Library = s.Value == "c-shared"
		}
	}
	return p
}

// Why a program could not be read; test with errors.Is. The errors that carry
// these say what was tried, and what to do where something can be done.
var (
	ErrNotGo       = errors.New("not a Go program")
	ErrGone        = errors.New("the process is gone")
	ErrPermission  = errors.New("permission denied")
	errStarting    = errors.New("the Go runtime has not started yet")
	ErrLate        = errors.New("there was no time to read its executable")
	ErrUndecodable = errors.New("runtime.gomaxprocs cannot be found in the program")
)
