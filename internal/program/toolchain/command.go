package toolchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/supervisor"
)

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
		return nil, g.failure(args[0], out)
	case out.Cut:
		return nil, fmt.Errorf("%s %s printed more than %d bytes", g.Path, args[0], supervisor.CaptureLimit)
	}
	return out.Stdout, nil
}

// FailedError is that a go command failed.
type FailedError struct{ Exit supervisor.Exit }

func (e *FailedError) Error() string { return e.Exit.String() }

func (g Go) failure(subcommand string, out supervisor.Output) error {
	said := supervisor.Printable(out.Stderr)
	err := fmt.Errorf("%s %s: %w:\n%s", g.Path, subcommand, &FailedError{out.Exit}, supervisor.LastLines(out.Stderr, 20))
	if why := cause(said, g.Dir); why != "" {
		return fmt.Errorf("%s\n%w", why, err)
	}
	return err
}

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

// firstLine is the cause of an error that Run returned.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
