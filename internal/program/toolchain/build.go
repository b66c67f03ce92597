// Package toolchain gets Go toolchains of any release, from Go 1.2 to today's,
// and builds programs with them.
//
// # Model
//
// The module proxy has the releases as versions of golang.org/toolchain, also
// those from long before it (https://go.dev/doc/toolchain). The go command on
// PATH fetches them into the module cache, checks their sums and keeps two
// processes from doing so at once; Fetch asks it to, and finds the newest release
// of a bare 1.4. What is built then runs the toolchain's own go command.
//
// Build compiles one file of the standard library alone, the same way wherever
// it is called: no go env file, no GOFLAGS, no cgo, outside of any workspace. A
// go command before 1.21 would stumble over today's settings, and a program in a
// workspace gets another default GOMAXPROCS than its go line says.
// BuildWith compiles a package of the user's, with the user's settings.
//
// # Limits
//
// The go command on PATH must be 1.21 or later. A proxy lacks some releases (Go
// 1.0, 1.1 and 1.3 were not to be had in 2026), and before Go 1.16 there are few
// systems that it has them for.
package toolchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// Build compiles the source of a main.go as out. The go line of its module is
// the language, such as 1.24, or without one the toolchain's own version: it
// decides the runtime's defaults (https://go.dev/doc/godebug). Before Go 1.21
// they are the same for every language, so there is none to choose.
func (t Toolchain) Build(ctx context.Context, source []byte, language, out string) error {
	return t.told(ctx, t.build(ctx, source, way{language: language}, out))
}

// BuildC is Build for a source that calls C, or with race for the race detector, which
// needs C as well: with a compiler of the system. The go line is the toolchain's own.
func (t Toolchain) BuildC(ctx context.Context, source []byte, race bool, out string) error {
	compiler, err := CCompiler()
	if err == nil && version.Compare(t.Version, "go1.21") < 0 {
		err = errors.New("C is called by Go 1.21 and later here")
	}
	if err == nil {
		err = t.build(ctx, source, way{compiler: compiler, race: race}, out)
	}
	return t.told(ctx, err)
}

// CCompiler is the C compiler that the go command is to use: $CC, or one of the usual
// names on PATH.
func CCompiler() (string, error) {
	for _, name := range []string{os.Getenv("CC"), "gcc", "clang", "cc"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no C compiler, which cgo and the race detector need: install gcc or clang (Debian: apt-get install gcc libc6-dev)")
}

func (t Toolchain) told(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("build with %s: %w", t.Version, err)
	}
	return err
}

type way struct {
	language string // empty: the toolchain's own
	compiler string // of C; empty: none
	race     bool
}

func (t Toolchain) build(ctx context.Context, source []byte, how way, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	keeper, err := supervisor.NewKeeper()
	if err != nil {
		return err
	}
	defer keeper.Close()
	dir, err := keeper.Folder("procfit-build-")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source, 0o644); err != nil {
		return err
	}
	tool := t.own().With("GOENV=off", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GODEBUG=", "CGO_ENABLED=0",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	tool.Dir = dir
	args := []string{"build", "-o", out}
	if how.compiler != "" {
		tool = tool.With("CGO_ENABLED=1", "CC="+how.compiler)
	}
	if how.race {
		args = append(args, "-race")
	}
	if version.Compare(t.Version, "go1.21") >= 0 {
		language := cmp.Or(how.language, strings.TrimPrefix(t.Version, "go"))
		text := "module program\n\ngo " + language + "\n"
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
			return err
		}
		_, err = tool.With("GO111MODULE=on").Run(ctx, append(args, ".")...)
		return err
	}
	if how.language != "" {
		return fmt.Errorf("no language %s can be chosen: a go line decides nothing before Go 1.21", how.language)
	}
	// A cache apart: today's go command keeps in its own what these do not know.
	cache := filepath.Join(dir, "cache")
	if user, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(user, "procfit", "go-build")
	}
	_, err = tool.With("GO111MODULE=off", "GOPATH="+filepath.Join(dir, "gopath"), "GOCACHE="+cache).Run(ctx, append(args, "main.go")...)
	return err
}

func (t Toolchain) own() Go {
	g := t.command.With("GOTOOLCHAIN=local", "GOROOT="+t.Root)
	g.Path = filepath.Join(t.Root, "bin", "go")
	return g
}

// BuildWith compiles the main package pkg as out, where and with the settings that the command
// has, with the Go toolchain of the release. A bare 1.24 means its newest patch release that can
// be had; an empty release is the command itself, which must be 1.21 or later for any other.
// The same code gives the same file, whatever its commit.
func (g Go) BuildWith(ctx context.Context, release, pkg, out string) error {
	what, args := "build "+pkg, []string{"build", "-buildvcs=false"}
	if release != "" {
		chain, err := g.Fetch(ctx, release)
		if err != nil {
			return err
		}
		g, what = chain.own(), what+" with "+chain.Version
		if version.Compare(chain.Version, "go1.18") < 0 { // which writes no commit, and does not know the flag
			args = args[:1]
		}
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	_, err = g.Run(ctx, append(args, "-o", out, "--", pkg)...)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case release != "" && strings.Contains(err.Error(), "requires go >= "):
		return fmt.Errorf("%s: the go line of its module asks for a later version: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
