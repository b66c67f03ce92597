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
	GoVersion      string // as the toolchain names itself: "go1.26.1"
	Path           string // of the main package; "command-line-arguments" when built from files
	MainModule     string // empty when built outside a module
	MainVersion    string
	DefaultGODEBUG string // the GODEBUG defaults that the go.mod or the source asked for
	Settings       []debug.BuildSetting
	Deps           []*debug.Module
}

// Toolchain tells whether the program is a part of Go itself: the go command, the
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

// Read reads a program from its file.
func Read(r io.ReaderAt) (Program, error) {
	info, err := buildinfo.Read(&budget{r: r, left: maxRead})
	if err != nil {
		if again, ok := findBuildInfo(&budget{r: r, left: maxRead}); ok {
			info, err = again, nil
		}
	}
	if err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			return Program{}, err
		}
		return Program{}, fmt.Errorf("%w (%v)", ErrNotGo, err)
	}
	p := Program{
		GoVersion:   info.GoVersion,
		Path:        info.Path,
		MainModule:  info.Main.Path,
		MainVersion: info.Main.Version,
		Settings:    info.Settings,
		Deps:        info.Deps,
	}
	for _, s := range info.Settings {
		if s.Key == "DefaultGODEBUG" {
			p.DefaultGODEBUG = s.Value
		}
	}
	return p, nil
}
