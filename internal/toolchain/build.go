package toolchain

import (
	"context"
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/procfit/procfit/internal/supervisor"
)

// Build compiles the source of a main.go as out. The go line of its module is
// the language, such as 1.24, or without one the toolchain's own version: it
// decides the runtime's defaults (https://go.dev/doc/godebug). Before Go 1.21
// they are the same for every language, so there is none to choose.
func (t Toolchain) Build(ctx context.Context, source []byte, language, out string) error {
	err := t.build(ctx, source, language, out)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("build with %s: %w", t.Version, err)
	}
	return err
}

func (t Toolchain) build(ctx context.Context, source []byte, language, out string) error {
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
	if version.Compare(t.Version, "go1.21") >= 0 {
		if language == "" {
			language = strings.TrimPrefix(t.Version, "go")
		}
		text := "module program\n\ngo " + language + "\n"
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
			return err
		}
		_, err = tool.With("GO111MODULE=on").Run(ctx, "build", "-o", out, ".")
		return err
	}
	if language != "" {
		return fmt.Errorf("no language %s can be chosen: a go line decides nothing before Go 1.21", language)
	}
	// A cache apart: today's go command keeps in its own what these do not know.
	cache := filepath.Join(dir, "cache")
	if user, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(user, "procfit", "go-build")
	}
	_, err = tool.With("GO111MODULE=off", "GOPATH="+filepath.Join(dir, "gopath"), "GOCACHE="+cache).Run(ctx, "build", "-o", out, "main.go")
	return err
}

// BuildPackage compiles the main package pkg as out, where and with the settings
// that the command which fetched the toolchain has.
func (t Toolchain) BuildPackage(ctx context.Context, pkg, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	_, err = t.own().Run(ctx, "build", "-o", out, "--", pkg)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case strings.Contains(err.Error(), "requires go >= "):
		return fmt.Errorf("build %s with %s: the go line of its module asks for a later version: %w", pkg, t.Version, err)
	}
	return fmt.Errorf("build %s with %s: %w", pkg, t.Version, err)
}

// own is the toolchain's own go command.
func (t Toolchain) own() Go {
	g := t.command.With("GOTOOLCHAIN=local", "GOROOT="+t.Root)
	g.Path = filepath.Join(t.Root, "bin", "go")
	return g
}
