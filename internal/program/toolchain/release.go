package toolchain

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// BuildWith compiles the main package pkg as out with the Go toolchain of the
// version, and returns that version in full: go1.24.6. A bare 1.24 means its
// newest patch release that can be had; an empty version is the command itself,
// which must be 1.21 or later for any other.
func (g Go) BuildWith(ctx context.Context, version, pkg, out string) (full string, err error) {
	if version != "" {
		chain, err := g.Fetch(ctx, version)
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
	if _, err := g.Run(ctx, "build", "-o", out, "--", pkg); err != nil {
		return "", fmt.Errorf("build %s: %w", pkg, err)
	}
	output, err := g.Run(ctx, "env", "GOVERSION")
	return strings.TrimSpace(string(output)), err
}
