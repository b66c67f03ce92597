package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode"
)

// Go is a go command in a directory.
type Go struct {
	Path string   // the command; go is that on PATH
	Dir  string   // empty: the current one
	Env  []string // complete; nil is this process's own
}

// Run runs it and returns its standard output; the error holds what it said.
func (g Go) Run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.Path, args...)
	cmd.Dir, cmd.Env = g.Dir, g.Env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w: install Go, or put it on PATH", g.Path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w:\n%s", g.Path, args[0], err, lastLines(stderr.String(), 20))
	}
	return stdout.Bytes(), nil
}

// With returns the command with more variables in its environment.
func (g Go) With(variables ...string) Go {
	if g.Env == nil {
		g.Env = os.Environ()
	}
	g.Env = append(slices.Clip(g.Env), variables...)
	return g
}

// lastLines is the end of what a go command said, without what a terminal would
// obey.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.Join(lines[max(0, len(lines)-n):], "\n"))
}
