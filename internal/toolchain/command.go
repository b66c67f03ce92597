package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// Run runs it and returns its standard output. The error's first line is the cause,
// as many a view shows no more of it, and what the command said in full follows.
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
		said := printable(stderr.String())
		err = fmt.Errorf("%s %s: %w:\n%s", g.Path, args[0], err, lastLines(said, 20))
		if why := cause(said, g.Dir); why != "" {
			return nil, fmt.Errorf("%s\n%w", why, err)
		}
		return nil, err
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

// printable is what a go command said, without what a terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
}

func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
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
