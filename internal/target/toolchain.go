package target

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// goVersion takes 1.24, 1.24.6, 1.26rc1, each with or without "go".
var goVersion = regexp.MustCompile(`^(?:go)?(\d+\.\d+)(\.\d+|(?:rc|beta)\d+)?$`)

// toolchainTries bounds how many patch releases are tried for a bare 1.24. A
// proxy may list releases that it does not have for this system.
const toolchainTries = 4

// Build compiles the main package pkg, from dir, as out, with the Go toolchain
// of the version, and returns that version in full: go1.24.6. A bare 1.24 means
// its newest patch release that can be had; an empty version is the Go on PATH. The go command fetches toolchains by
// itself (https://go.dev/doc/toolchain); it must be 1.21 or later. env is
// complete; nil is procfit's own.
func Build(ctx context.Context, version, dir, pkg, out string, env []string) (full string, err error) {
	out, err = filepath.Abs(out)
	if err != nil {
		return "", err
	}
	tool := goTool{path: "go", dir: dir, env: env}
	if version == "" {
		if _, err := tool.run(ctx, "build", "-o", out, "--", pkg); err != nil {
			return "", fmt.Errorf("build %s: %w", pkg, err)
		}
		output, err := tool.run(ctx, "env", "GOVERSION")
		return strings.TrimSpace(string(output)), err
	}
	full, err = resolveToolchain(ctx, tool, version)
	if err != nil {
		return "", err
	}
	if _, err := tool.with("GOTOOLCHAIN="+full).run(ctx, "build", "-o", out, "--", pkg); err != nil {
		if strings.Contains(err.Error(), "requires go >= ") {
			return "", fmt.Errorf("build %s with %s: the go line of its module asks for a later version: %w", pkg, full, err)
		}
		return "", fmt.Errorf("build %s with %s: %w", pkg, full, err)
	}
	return full, nil
}

// resolveToolchain finds a toolchain of the version that runs here, fetching it
// where needed.
func resolveToolchain(ctx context.Context, tool goTool, version string) (string, error) {
	parts := goVersion.FindStringSubmatch(version)
	if parts == nil {
		return "", fmt.Errorf("%q is no Go version such as 1.24 or 1.24.6", version)
	}
	candidates := []string{"go" + parts[1] + parts[2]}
	if parts[2] == "" {
		var err error
		if candidates, err = patches(ctx, tool, parts[1]); err != nil {
			return "", err
		}
	}
	var failed error
	for _, candidate := range candidates[:min(len(candidates), toolchainTries)] {
		output, err := tool.with("GOTOOLCHAIN="+candidate).run(ctx, "version")
		switch fields := strings.Fields(string(output)); {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err == nil && len(fields) > 2 && fields[2] == candidate:
			return candidate, nil
		case err == nil:
			err = fmt.Errorf("GOTOOLCHAIN=%s go version printed %q: is the go command older than 1.21?", candidate, output)
			fallthrough
		default:
			failed = errors.Join(failed, err)
		}
	}
	return "", fmt.Errorf("get the toolchain of Go %s: %w", version, failed)
}

// patches lists the releases of a minor version, newest first. The go command
// knows them as versions of a pseudo-module named go. Where it cannot ask, the
// local toolchain may still do.
func patches(ctx context.Context, tool goTool, minor string) ([]string, error) {
	output, err := tool.with("GOWORK=off", "GOFLAGS=-mod=readonly").run(ctx, "list", "-m", "-versions", "go")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var found []string
	for _, v := range strings.Fields(string(output)) {
		if v == minor || strings.HasPrefix(v, minor+".") {
			found = append([]string{"go" + v}, found...) // they come in ascending order
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	local, localErr := tool.with("GOTOOLCHAIN=local").run(ctx, "env", "GOVERSION")
	if v := strings.TrimSpace(string(local)); localErr == nil && (v == "go"+minor || strings.HasPrefix(v, "go"+minor+".")) {
		return []string{v}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the releases of Go %s: %w", minor, err)
	}
	return nil, fmt.Errorf("no release of Go %s can be had: name one in full, such as %s.1", minor, minor)
}
