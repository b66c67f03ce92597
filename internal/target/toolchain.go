package target

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/procfit/procfit/internal/toolchain"
)

// Build compiles the main package pkg, from dir, as out, with the Go toolchain
// of the version, and returns that version in full: go1.24.6. A bare 1.24 means
// its newest patch release that can be had; an empty version is the Go on PATH,
// which must be 1.21 or later for any other. env is complete; nil is procfit's
// own.
func Build(ctx context.Context, version, dir, pkg, out string, env []string) (full string, err error) {
	command := toolchain.Go{Path: "go", Dir: dir, Env: env}
	if version != "" {
		chain, err := command.Fetch(ctx, version)
		if err != nil {
			return "", err
		}
		if err := chain.BuildPackage(ctx, pkg, out); err != nil {
			return "", err
		}
		return chain.Version, nil
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return "", err
	}
	if _, err := command.Run(ctx, "build", "-o", out, "--", pkg); err != nil {
		return "", fmt.Errorf("build %s: %w", pkg, err)
	}
	output, err := command.Run(ctx, "env", "GOVERSION")
	return strings.TrimSpace(string(output)), err
}
