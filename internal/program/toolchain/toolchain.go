package toolchain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Toolchain is one that runs here.
type Toolchain struct {
	Version string // in full: go1.4.3
	Root    string // its GOROOT

	command Go // the one that fetched it
}

// goVersion takes 1.24, 1.24.6, 1.26rc1, each with or without "go".
var goVersion = pattern.Of(`^(?:go)?(1\.\d+)(\.\d+|(?:rc|beta)\d+)?$`)

// downloads bounds how many releases are asked for in vain. A proxy may list
// releases that it does not have for this system.
const downloads = 4

// last is the newest release of each version that proxies may have but do not
// list: they list what somebody once asked them for.
var last = []string{
	"go1.2.2", "go1.4.3", "go1.5.4", "go1.6.2", "go1.7.6", "go1.9.7",
	"go1.10.8", "go1.11.13", "go1.12.17", "go1.13.15", "go1.14.15", "go1.15.15",
	"go1.16.15", "go1.17.13", "go1.18.10", "go1.19.13", "go1.20.14",
}

// settings are the go command's that decide where modules come from and where
// they are kept.
var settings = []string{"GOPROXY", "GOSUMDB", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOAUTH", "GOMODCACHE", "GOPATH"}

// Fetch gets a toolchain by the go command on PATH; see [Go.Fetch].
func Fetch(ctx context.Context, version string) (Toolchain, error) {
	return Go{Path: "go"}.Fetch(ctx, version)
}

// Fetch gets the toolchain of a version, such as 1.4.3, from the module proxy,
// or from the module cache where it is already. A bare 1.4 means its newest
// release that can be had. Any number of processes may fetch at once.
func (g Go) Fetch(ctx context.Context, version string) (Toolchain, error) {
	parts := goVersion().FindStringSubmatch(version)
	if parts == nil {
		return Toolchain{}, fmt.Errorf("%q is not a Go version such as 1.24 or 1.24.6", version)
	}
	plain, env, err := g.plain(ctx)
	if err != nil {
		return Toolchain{}, fmt.Errorf("get the toolchain of Go %s: %w", version, err)
	}
	releases := []string{"go" + parts[1] + parts[2]}
	if parts[2] == "" {
		if releases, err = plain.releases(ctx, parts[1], env["GOMODCACHE"]); err != nil {
			return Toolchain{}, err
		}
	}
	var failed []error
	for _, release := range releases {
		if len(failed) >= downloads && !cached(env["GOMODCACHE"], release) {
			continue
		}
		root, err := plain.fetch(ctx, release)
		if err == nil {
			return Toolchain{Version: release, Root: root, command: g}, nil
		}
		if ctx.Err() != nil {
			return Toolchain{}, ctx.Err()
		}
		failed = append(failed, err)
	}
	return Toolchain{}, fmt.Errorf("get the toolchain of Go %s for %s/%s from GOPROXY=%s: %s (%s)\n%w",
		version, runtime.GOOS, runtime.GOARCH, secret.Text(env["GOPROXY"]), phrase.FirstLine(failed[0].Error()), advice(env["GOPROXY"]), errors.Join(failed...))
}

func advice(proxy string) string {
	if proxy == "off" || proxy == "direct" {
		return "toolchains come from a module proxy: set GOPROXY=https://proxy.golang.org, or copy the module cache of a machine that has this one"
	}
	return "without a network, copy the module cache of a machine that has it; a release that the proxy lacks cannot be fetched: name another, as `go list -m -versions go` shows them"
}

// plain is the command free of settings that an old go command refuses, and those that it keeps:
// GOENV=off hides the go env file.
func (g Go) plain(ctx context.Context) (plain Go, env map[string]string, err error) {
	output, err := g.With("GOTOOLCHAIN=local").Run(ctx, append([]string{"env", "-json"}, settings...)...)
	if err != nil {
		return g, nil, err
	}
	if err := json.Unmarshal(output, &env); err != nil {
		return g, nil, fmt.Errorf("go env -json printed %q: %w", output, err)
	}
	g = g.With("GOENV=off", "GOFLAGS=", "GOWORK=off", "GO111MODULE=", "GOEXPERIMENT=", "GOOS=", "GOARCH=", "GODEBUG=")
	for _, name := range settings {
		if env[name] != "" {
			g = g.With(name + "=" + env[name])
		}
	}
	return g, env, nil
}

// fetch gets one release and returns its GOROOT. The go command downloads under
// a lock of its own.
func (g Go) fetch(ctx context.Context, release string) (root string, err error) {
	g = g.With("GOTOOLCHAIN=" + release)
	output, err := g.Run(ctx, "version")
	if err != nil {
		return "", err
	}
	if fields := strings.Fields(string(output)); len(fields) < 3 || fields[2] != release {
		return "", fmt.Errorf("GOTOOLCHAIN=%s go version printed %q: is the go command older than 1.21?", release, output)
	}
	output, err = g.Run(ctx, "env", "GOROOT")
	return strings.TrimSpace(string(output)), err
}

// releases lists the releases of a version such as 1.24, newest first. The go
// command knows them as versions of a pseudo-module named go; where it cannot
// ask, what is here already may do.
func (g Go) releases(ctx context.Context, minor, modCache string) ([]string, error) {
	all, err := g.listed(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all = slices.Concat(all, last, inCache(modCache, minor))
	if local, err := g.local(ctx); err == nil {
		all = append(all, local)
	}
	all = slices.DeleteFunc(all, func(v string) bool {
		return version.Lang(v) != "go"+minor || strings.ContainsAny(v, "rb") // no candidates: rc, beta
	})
	sorting.Stable(all, func(a, b string) int { return cmp.Or(-version.Compare(a, b), cmp.Compare(a, b)) })
	all = slices.Compact(all)
	if len(all) > 0 {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the releases of Go %s: %w", minor, err)
	}
	return nil, fmt.Errorf("no release of Go %s can be fetched: name one in full, such as %s.1", minor, minor)
}

// listed are the releases that the module proxy lists, such as go1.24.6.
func (g Go) listed(ctx context.Context) (all []string, err error) {
	output, err := g.Run(ctx, "list", "-m", "-versions", "go")
	for _, v := range strings.Fields(string(output)) {
		all = append(all, "go"+v)
	}
	return slices.DeleteFunc(all, func(v string) bool { return !version.IsValid(v) }), err
}

func (g Go) local(ctx context.Context) (string, error) {
	output, err := g.With("GOTOOLCHAIN=local").Run(ctx, "env", "GOVERSION")
	return strings.TrimSpace(string(output)), err
}

// inCache are the releases of a version that the module cache has.
func inCache(modCache, minor string) (releases []string) {
	here, _ := filepath.Glob(cachePath(modCache, "go"+minor+"*")) // the pattern is well formed
	for _, dir := range here {
		releases = append(releases, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(dir), "toolchain@v0.0.1-"), system))
	}
	return releases
}

// system is how the name of a toolchain's directory ends.
const system = "." + runtime.GOOS + "-" + runtime.GOARCH

func cachePath(modCache, release string) string {
	return filepath.Join(modCache, "golang.org", "toolchain@v0.0.1-"+release+system)
}

func cached(modCache, release string) bool {
	_, err := os.Stat(cachePath(modCache, release))
	return err == nil
}

// Go is a go command in a directory.
type Go struct {
	Path string   // the command; go is that on PATH
	Dir  string   // empty: the current one
	Env  []string // complete; nil is this process's own
}

// Run runs it under a supervisor and returns its standard output: whatever signal
// ends this process, no compiler goes on and no build folder stays. The error's
// first line is the cause, as many a view shows no more of it, and what the
// command said in full follows.
func (g Go) Run(ctx context.Context, args ...string) ([]byte, error) {
	env := g.environ()
	scratch := supervisor.TempName(cmp.Or(lookup(env, "GOTMPDIR"), lookup(env, "TMPDIR")), "procfit-go-")
	out, err := supervisor.Run(ctx, supervisor.Spec{
		Command: append([]string{g.Path}, args...), Dir: g.Dir, Folders: []string{scratch},
		// Before Go 1.10 there was no GOTMPDIR.
		Env: append(env, "GOTMPDIR="+scratch, "TMPDIR="+scratch),
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%s: %w: install Go", g.Path, err)
	case err != nil:
		return nil, err
	case out.Exit.Failed():
		err := fmt.Errorf("%s %s: %w:\n%s", g.Path, args[0], &FailedError{out.Exit}, supervisor.LastLines(out.Stderr, 20))
		if why := cause(supervisor.Printable(out.Stderr), g.Dir); why != "" {
			return nil, fmt.Errorf("%s\n%w", why, err)
		}
		return nil, err
	case out.Cut:
		return nil, fmt.Errorf("%s %s printed more than %d bytes", g.Path, args[0], supervisor.CaptureLimit)
	}
	return out.Stdout, nil
}

// FailedError is that a go command failed.
type FailedError struct{ Exit supervisor.Exit }

func (e *FailedError) Error() string { return e.Exit.String() }

// environ is the command's environment. PWD names its directory as the user does,
// by a symbolic link, say.
func (g Go) environ() []string {
	if g.Env != nil {
		return slices.Clip(g.Env)
	}
	env := os.Environ()
	if dir, err := filepath.Abs(g.Dir); err == nil && g.Dir != "" {
		env = append(env, "PWD="+dir)
	}
	return env
}

// lookup is the value of a variable; of several the last counts.
func lookup(env []string, name string) string {
	for _, variable := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// With returns the command with more variables in its environment.
func (g Go) With(variables ...string) Go {
	if g.Env == nil {
		g.Env = os.Environ()
	}
	g.Env = append(slices.Clip(g.Env), variables...)
	return g
}

// cause is the first line of what a go command said that is neither progress nor
// a heading, in one line with the next where it announces that. Files of dir are
// named relative to it. It is empty where there is no such line.
func cause(said, dir string) string {
	announced := ""
	for line := range strings.Lines(said) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "go: ")
		if line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "downloading ") || strings.HasPrefix(line, "WORK=") {
			continue
		}
		if dir != "" {
			line = strings.ReplaceAll(line, dir+string(filepath.Separator), "")
		}
		line = announced + line
		if announced != "" || !strings.HasSuffix(line, ":") {
			return line
		}
		announced = line + " "
	}
	return strings.TrimSpace(announced)
}
