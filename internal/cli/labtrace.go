package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/lab"
)

// traceLimit bounds the run under a trace; the programs take a second.
const traceLimit = time.Minute

// filesNamed are the lines at the end that say where a picture was written to.
var filesNamed = regexp.MustCompile(`\n(→ .*\n)+$`)

// look runs the experiment's program once more, under its trace, and writes what
// there is to be seen into its folder.
func (r *labRun) look(ctx context.Context, e lab.Experiment) ([]lab.RanFile, error) {
	ctx, cancel := context.WithTimeout(ctx, traceLimit)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.out, e.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []lab.RanFile
	add := func(title, name string, content []byte) error {
		files = append(files, lab.RanFile{Title: title, Path: path.Join(e.ID, name)})
		if content == nil {
			return nil
		}
		return os.WriteFile(filepath.Join(dir, name), content, 0o644)
	}
	var out, errs bytes.Buffer
	// The folder may be moved, and the page links what it names.
	shown := func() []byte { return filesNamed.ReplaceAll(out.Bytes(), nil) }
	quiet := stdio{in: strings.NewReader(""), out: &out, err: &errs}
	switch e.Trace {
	case lab.Execution:
		raw := filepath.Join(dir, "trace.out")
		if err := runProgram(ctx, self, e.ID, nil, nil, "-trace", raw); err != nil {
			return nil, err
		}
		f, err := os.Open(raw)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := showExecTrace(ctx, quiet, f, raw, filepath.Join(dir, "timeline.svg"), false); err != nil {
			return nil, err
		}
		return files, errors.Join(
			add("which P ran which goroutine, and what was stolen from whom", "timeline.txt", shown()),
			add("the same, drawn", "timeline.svg", nil),
			add("the execution trace, for go tool trace", "trace.out", nil))
	case lab.Scheduler:
		var log bytes.Buffer
		if err := runProgram(ctx, self, e.ID, []string{"GODEBUG=schedtrace=20", "GOMAXPROCS=4"}, &log); err != nil {
			return nil, err
		}
		t := traceOptions{html: filepath.Join(dir, "trace.html")}
		quiet.in = bytes.NewReader(log.Bytes())
		if err := t.run(ctx, quiet, []string{"-"}, -1); err != nil {
			return nil, err
		}
		return files, errors.Join(
			add("the scheduler's own lines, read", "trace.txt", shown()),
			add("the same, drawn over time", "trace.html", nil),
			add("the lines themselves", "schedtrace.log", log.Bytes()))
	}
	return nil, nil
}

// mostShown is how many experiments a run has at most whose traces are printed too.
const mostShown = 2

// showTraces prints what the programs' traces say, below the outcome.
func (r *labRun) showTraces() error {
	if r.json || len(r.items) > mostShown {
		return nil
	}
	for _, item := range r.items {
		for _, f := range item.files {
			if path.Ext(f.Path) != ".txt" {
				continue
			}
			b, err := os.ReadFile(filepath.Join(r.out, filepath.FromSlash(f.Path)))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(r.io.out, "\n%s", b); err != nil {
				return err
			}
		}
	}
	return nil
}

// runProgram runs a practice program; its standard error goes to log.
func runProgram(ctx context.Context, self, id string, env []string, log *bytes.Buffer, args ...string) error {
	cmd := exec.CommandContext(ctx, self, append([]string{"lab", "program", id}, args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOMAXPROCS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	if log != nil {
		log.Write(errs.Bytes())
	}
	if err != nil {
		return fmt.Errorf("%s under a trace: %w: %s", id, err, bytes.TrimSpace(errs.Bytes()))
	}
	return nil
}
