package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/git"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/show/phrase"
)

// drop makes the fixes of PF031, in the files or only in the Report.
func drop(ctx context.Context, o Options, write bool) (*check.Report, error) {
	look := run(o, folder.NewTree(o.Dir), func(source.Automaxprocs) {})
	return check.Fixer{Least: rule.Info, Write: write, Check: func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		report, err := look(ctx, overlay)
		if report != nil {
			report.Findings = slices.DeleteFunc(report.Findings, func(f check.Finding) bool { return f.Rule != "PF031" })
		}
		return report, err
	}}.Run(ctx)
}

// Ready reports why files of a module must not be changed now: git would not have what they are.
func Ready(ctx context.Context, dir string) error {
	repository, err := git.Open(ctx, dir)
	switch {
	case errors.Is(err, git.ErrNone):
		return nil
	case err != nil:
		return err
	case repository.Dirty:
		return errors.New("the repository has changes that are not committed, and --fix is to be one commit: git stash (and afterwards git stash pop), or git commit; then run it again")
	}
	if _, err := repository.Read(ctx, "go.mod"); err != nil {
		return fmt.Errorf("git does not have go.mod: %w; git add and git commit it first", err)
	}
	return nil
}

// Fix removes the imports, tidies go.mod and builds. If anything fails, all files are what they
// were before.
func (r *Report) Fix(ctx context.Context, o Options) (err error) {
	g := toolchain.Go{Path: "go", Dir: o.Dir, Env: o.Environ}
	build := func() error {
		_, err := g.Run(ctx, "build", "-buildvcs=false", "-o", os.DevNull, "./...")
		return err
	}
	if err := build(); err != nil {
		return fmt.Errorf("the module does not build, so that nothing is changed: %w", err)
	}
	before := map[string][]byte{} // nil: it was not there
	for _, name := range []string{"go.mod", "go.sum"} {
		before[filepath.Join(o.Dir, name)], _ = folder.ReadRegular(filepath.Join(o.Dir, name), mostModule)
	}
	vendored := exists(filepath.Join(o.Dir, "vendor"), "modules.txt")
	defer func() {
		if err != nil {
			// The context may be what has ended.
			err = errors.Join(err, restore(context.WithoutCancel(ctx), g, before, vendored))
		}
	}()
	fixed, err := drop(ctx, o, true)
	if err != nil {
		return err
	}
	var done []string
	for _, f := range fixed.Fixed {
		before[filepath.FromSlash(f.Path)] = f.Before
		done = append(done, f.Path)
	}
	if len(fixed.Fixed) == 0 || len(fixed.Findings) > 0 {
		return errors.New("procfit cannot remove all of it, so that nothing is changed: " + stillThere(fixed))
	}
	if _, err := g.Run(ctx, "mod", "tidy"); err != nil {
		return fmt.Errorf("go mod tidy fails, so that all files are what they were: %w", err)
	}
	if vendored {
		if _, err := g.Run(ctx, "mod", "vendor"); err != nil {
			return fmt.Errorf("go mod vendor fails, so that all files are what they were: %w", err)
		}
	}
	if err := build(); err != nil {
		return fmt.Errorf("without automaxprocs the module does not build, so that all files are what they were: %w", err)
	}
	r.Fixed = done
	return nil
}

// stillThere is why an import is still there.
func stillThere(report *check.Report) string {
	if len(report.Findings) == 0 {
		return "no import has a fix"
	}
	f := report.Findings[0]
	for _, n := range report.Notes {
		if n.Path == f.Path {
			return n.Path + ": " + n.Message
		}
	}
	return fmt.Sprintf("%s:%d still imports it", f.Path, f.Line)
}

// restore gives files what they had.
func restore(ctx context.Context, g toolchain.Go, before map[string][]byte, vendored bool) error {
	var all []error
	for path, text := range before {
		info, err := os.Stat(path)
		switch {
		case text == nil && err == nil:
			all = append(all, os.Remove(path))
		case text != nil && err == nil:
			all = append(all, os.WriteFile(path, text, info.Mode().Perm()))
		case text != nil:
			all = append(all, os.WriteFile(path, text, 0o644))
		}
	}
	if vendored {
		_, err := g.Run(ctx, "mod", "vendor")
		all = append(all, err)
	}
	return errors.Join(all...)
}

// Proof is the measurement of a program with automaxprocs and without it, under one limit.
type Proof struct {
	Limit  float64      `json:"limit_cpus"`
	Folder string       `json:"folder"` // of the results
	Checks []ProofCheck `json:"checks"`
}

// ProofCheck is a metric without automaxprocs, divided by that with it.
type ProofCheck struct {
	Metric  string   `json:"metric"`
	Outcome string   `json:"outcome"` // as in result.json
	Ratio   *float64 `json:"ratio"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
}

// Doubt is why somebody has to agree to the removal, in words; "": nothing changes.
func (r *Report) Doubt() string {
	changed, unknown := r.Changes()
	switch {
	case !r.manifests:
		if len(r.Differ()) == 0 {
			return ""
		}
		return "which containers run it is not known, and values change by CPU limit"
	case len(r.Problems) > 0:
		return "not everything could be read: " + r.Failed()
	case len(r.Workloads) == 0:
		return "no container is known to run a program of this module"
	case changed+unknown == 0:
		return ""
	}
	return fmt.Sprintf("%d of %s another value, and of %d it is not known", changed, phrase.CountOf(len(r.Workloads), "container gets", "containers get"), unknown)
}

// NotRemovable is why the imports do not go by a fix.
func (r *Report) NotRemovable() string {
	own := r.own()
	if len(own) == 0 && len(r.Module.Imports) == 0 {
		return "nothing of this module imports it"
	} else if len(own) == 0 {
		return "only a dependency imports it: " + phrase.Clean(r.Module.Imports[0].Module)
	}
	for _, i := range own {
		if !i.Removable {
			return fmt.Sprintf("%s:%d has more than a call of Set and the handling of its results, or its types are not known (go mod download may help): remove that by hand", phrase.Clean(i.Path), i.Line)
		}
	}
	return ""
}

// Program is the main package to measure: the one of that name, or the only one that runs
// automaxprocs.
func (r *Report) Program(name string) (string, error) {
	var all []string
	for _, p := range r.Programs {
		if p.Runs && (name == "" || p.Package == name) {
			all = append(all, p.Package)
		}
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return "", fmt.Errorf("--program %q: no main package of that name runs automaxprocs", name)
	}
	return "", fmt.Errorf("several programs run automaxprocs: name one with --program: %s", phrase.Or(all))
}

// BuildBoth builds a main package as it is and without automaxprocs, without a change of the module's
// files.
func BuildBoth(ctx context.Context, o Options, pkg, before, after string) error {
	g := toolchain.Go{Path: "go", Dir: o.Dir, Env: o.Environ}
	fixed, err := drop(ctx, o, false)
	if err != nil {
		return err
	}
	if len(fixed.Fixed) == 0 {
		return errors.New("procfit cannot remove the import, so there is no program without it to measure")
	}
	overlay, err := writeOverlay(filepath.Dir(after), fixed.Fixed)
	if err != nil {
		return err
	}
	if _, err := g.Run(ctx, "build", "-buildvcs=false", "-o", before, "--", pkg); err != nil {
		return err
	}
	_, err = g.Run(ctx, "build", "-buildvcs=false", "-overlay", overlay, "-o", after, "--", pkg)
	return err
}

// writeOverlay writes what files have without automaxprocs into a folder, for go build -overlay.
func writeOverlay(dir string, fixed []check.Fixed) (file string, err error) {
	replace := map[string]string{}
	for i, f := range fixed {
		from, err := filepath.Abs(filepath.FromSlash(f.Path))
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, fmt.Sprintf("without-%d.go", i))
		if err := os.WriteFile(to, f.After, 0o600); err != nil {
			return "", err
		}
		replace[from] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}
