package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/output"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/phrase"
)

// check runs over the files, and again for each round of fixes.
func (o *checkOptions) check(ctx context.Context, std stdio) (*check.Report, error) {
	if slices.Contains(o.paths, check.Stdin) && (o.fix || o.diff) { // which a second run reads again
		b, err := folder.ReadAll(ctx, std.in, check.MostStdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		o.stdin = append([]byte{}, b...)
	}
	progress := newCounter(std, "file")
	defer progress.clear()
	slow := func(message string) {
		progress.clear()
		std.notef("%s", message)
	}
	run := func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		in := std.in
		if o.stdin != nil {
			in = bytes.NewReader(o.stdin)
		}
		report, err := check.Run(ctx, check.Options{Paths: o.paths, Stdin: in, Checkers: o.checkers(overlay, slow), Overlay: overlay, Progress: progress.count})
		if report != nil {
			report = report.Suppress(o.reasons())
		}
		return report, err
	}
	if o.fix || o.diff {
		return check.Fixer{Check: run, Least: o.severity, Write: o.fix, Stdin: o.stdin}.Run(ctx)
	}
	return run(ctx, nil)
}

// fixedText is what --fix - writes. Documents that cannot be read stay as they are.
func fixedText(r *check.Report, stdin []byte) []byte {
	for _, f := range r.Fixed {
		if f.Path == check.Stdin {
			return f.After
		}
	}
	return stdin
}

// checkDiff refuses what --diff does not print: a report.
func (o *checkOptions) checkDiff() error {
	if !o.diff {
		return nil
	}
	if o.values {
		return usageError("--diff prints a diff, and no values: use only one of --diff and --values")
	}
	for _, to := range o.out.all() {
		if to.format != "text" || to.file != "" {
			return usageError("--diff prints a diff, and no report: use only one of --diff and -o %s", to.format)
		}
	}
	return nil
}

// showDiff prints what --fix would write. What cannot be read or fixed goes to stderr.
func (o *checkOptions) showDiff(std stdio, r *check.Report) error {
	for _, f := range r.Fixed {
		name := f.Path
		if name == check.Stdin {
			name = "stdin"
		}
		if _, err := std.out.Write(diff.Diff(name, f.Before, name, f.After)); err != nil {
			return err
		}
	}
	failed := &check.Report{Notes: r.Notes, Problems: r.Problems}
	if err := output.Write(std.err, "text", failed, output.Options{Quiet: true}); err != nil {
		return err
	}
	switch {
	case len(r.Fixed) > 0 || o.out.quiet || len(r.Problems) > 0:
	case len(r.Findings) > 0:
		std.notef("no safe fix for %s; without --diff, procfit check shows what to do", phrase.Count(len(r.Findings), "finding"))
	default:
		std.notef("nothing to fix: no finding")
	}
	rest := o.verdict(r)
	if len(r.Fixed) == 0 || rest == nil && o.exitZero {
		return rest
	}
	text := phrase.Count(len(r.Fixed), "file") + " would be fixed"
	if rest == nil {
		return &exitError{exitGate, errors.New(text)}
	}
	if found, ok := errors.AsType[*exitError](rest); ok {
		return &exitError{found.code, fmt.Errorf("%s; %w would remain", text, found.err)}
	}
	return fmt.Errorf("%s; %w", text, rest)
}
