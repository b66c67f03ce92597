package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/git"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/show/phrase"
)

// drop makes the fixes of PF031 in texts that are not written.
func (r *Report) drop(ctx context.Context, o Options) (*check.Report, error) {
	look := r.run(o, folder.NewTree(o.Dir), func(source.Automaxprocs) {})
	return check.Fixer{Least: rule.Info, Check: func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		report, err := look(ctx, overlay)
		if report != nil {
			report.Findings = slices.DeleteFunc(report.Findings, func(f check.Finding) bool { return f.Rule != "PF031" })
		}
		return report, err
	}}.Run(ctx)
}

// Ready is an error if git does not have what the files are, or what is built.
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
	untracked, err := repository.Untracked(ctx)
	if err != nil {
		return err
	}
	for _, name := range untracked {
		if strings.HasPrefix(name, "vendor/") || source.ReadsToBuild(name) {
			return fmt.Errorf("git does not have %s, which a build of the module reads, so that one commit would not hold what was built: git add and git commit it, git stash -u (and afterwards git stash pop), or add it to .gitignore; then run it again", phrase.Clean(name))
		}
	}
	return nil
}

// Fix removes the imports, tidies go.mod, and builds, all next to the module, and then writes. If
// somebody else has written a file meanwhile, all stays what it was. A vendor folder that git has
// is made again.
func (r *Report) Fix(ctx context.Context, o Options) error {
	if err := source.Listable(o.Dir, o.Environ, folder.NewTree(o.Dir)); err != nil {
		return fmt.Errorf("nothing is changed: the go command %w", err)
	}
	vendor := filepath.Join(o.Dir, "vendor")
	vendored := exists(vendor, "modules.txt")
	if vendored {
		if err := kept(ctx, o.Dir); err != nil {
			return err
		}
	}
	g := toolchain.Go{Path: "go", Dir: o.Dir, Env: o.Environ}
	if _, err := g.Run(ctx, "build", "-buildvcs=false", "-o", os.DevNull, "./..."); err != nil {
		return fmt.Errorf("the module does not build, so that nothing is changed: %w", err)
	}
	fixed, err := r.drop(ctx, o)
	if err != nil {
		return err
	}
	if len(fixed.Fixed) == 0 || len(fixed.Findings) > 0 {
		return errors.New("procfit cannot remove all of it, so that nothing is changed: " + stillThere(fixed))
	}
	dir, err := os.MkdirTemp("", "procfit-migrate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := tidied(ctx, g, dir, fixed.Fixed)
	if err != nil {
		return err
	}
	overlay, err := writeOverlay(filepath.Join(dir, "after"), all)
	if err != nil {
		return err
	}
	build := []string{"build", "-buildvcs=false", "-overlay", overlay, "-o", os.DevNull, "./..."}
	if vendored { // the go command does not read it from an overlay
		build = slices.Insert(build, 1, "-mod=readonly")
	}
	if _, err := g.Run(ctx, build...); err != nil {
		return fmt.Errorf("without automaxprocs the module does not build, so that nothing is changed: %w", err)
	}
	if err := writeAll(all); err != nil {
		return err
	}
	r.Fixed = append(r.Fixed, phrase.Each(all, func(f check.Fixed) string { return f.Path })...)
	_, err = git.Open(ctx, o.Dir)
	r.untracked = errors.Is(err, git.ErrNone)
	if vendored {
		if _, err := alone(g).Run(ctx, "mod", "vendor"); err != nil {
			r.unvendored = true
			return fmt.Errorf("%s\n%w", r.Unvendored(), err)
		}
		r.Fixed = append(r.Fixed, filepath.ToSlash(vendor))
	}
	return nil
}

// Unvendored is what is left to do after a Fix that did not finish, with the command for it; "": nothing.
func (r *Report) Unvendored() string {
	return phrase.If(r.unvendored, "automaxprocs is removed, but the vendor folder is not up to date; try: "+r.vendoring(), "")
}

func (r *Report) vendoring() string {
	command := []string{"go", "mod", "vendor"}
	if dir := path.Dir(r.Module.File); dir != "." {
		command = slices.Insert(command, 1, "-C", dir)
	}
	return "GOWORK=off " + phrase.Shell(command)
}

// kept is an error if somebody's changes in a vendor folder would be lost.
func kept(ctx context.Context, dir string) error {
	const why = "nothing is changed: go mod vendor would overwrite the vendor folder, and git has no copy of it"
	repository, err := git.Open(ctx, dir)
	if errors.Is(err, git.ErrNone) {
		return fmt.Errorf("%s: %w; try: git init && git add -A && git add -f vendor && git commit -m vendor", why, err)
	}
	if err == nil {
		_, err = repository.Read(ctx, "vendor/modules.txt")
	}
	if err != nil {
		return fmt.Errorf("%s: vendor/modules.txt: %w; try: git add -f vendor && git commit -m vendor", why, err)
	}
	return nil
}

// go mod tidy and go mod vendor look at no workspace.
func alone(g toolchain.Go) toolchain.Go { return g.With("GOWORK=off") }

func writeAll(all []check.Fixed) error {
	for i, f := range all {
		err := f.Write()
		if err == nil {
			continue
		}
		err = fmt.Errorf("%s cannot be written, so that nothing is changed: %w", f.Path, err)
		for _, done := range slices.Backward(all[:i]) {
			done.Before, done.After = done.After, done.Before
			if back := done.Write(); back != nil {
				err = errors.Join(err, fmt.Errorf("%s is not what it was: %w", done.Path, back))
			}
		}
		return err
	}
	return nil
}

const mostSum = 64 << 20

// tidied are the files, and the go.mod and go.sum that follow from them, made in a folder.
func tidied(ctx context.Context, g toolchain.Go, dir string, files []check.Fixed) ([]check.Fixed, error) {
	overlay, err := writeOverlay(filepath.Join(dir, "before"), files)
	if err != nil {
		return nil, err
	}
	before := map[string][]byte{} // nil: it is not there
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := readOrNone(filepath.Join(g.Dir, name))
		if err == nil && text != nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("nothing is changed: %w", err)
		}
		before[name] = text
	}
	if _, err := alone(g).Run(ctx, "mod", "tidy", "-modfile="+filepath.Join(dir, "go.mod"), "-overlay="+overlay); err != nil {
		return nil, fmt.Errorf("go mod tidy fails, so that nothing is changed: %w", err)
	}
	all := slices.Clone(files)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		f := check.Fixed{Path: filepath.ToSlash(filepath.Join(g.Dir, name)), Before: before[name]}
		if f.After, err = readOrNone(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		if (f.Before == nil) != (f.After == nil) || !bytes.Equal(f.Before, f.After) {
			all = append(all, f)
		}
	}
	return all, nil
}

func readOrNone(path string) ([]byte, error) {
	text, err := folder.ReadRegular(path, mostSum)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

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
	case len(r.Problems) > 0:
		return "not everything could be read: " + r.Failed()
	case !r.manifests && !r.Runs():
		return "no program of this module is known to run automaxprocs, and what imports its packages is not looked at"
	case !r.manifests && len(r.Differ()) > 0:
		return "which containers run it is not known, and values change by CPU limit"
	case !r.manifests && r.openRow() >= 0:
		return "which values change is not known: " + r.Limits[r.openRow()].Why
	case !r.manifests:
		return ""
	case len(r.Workloads) == 0:
		return "no container is known to run a program of this module"
	}
	var why []string
	if changed+unknown > 0 {
		why = append(why, fmt.Sprintf("%d of %s another value, and of %d it is not known", changed, phrase.CountOf(len(r.Workloads), "container gets", "containers get"), unknown))
	}
	if missing := r.missing(); len(missing) > 0 {
		why = append(why, "no container is known to run "+phrase.Or(missing))
	}
	return strings.Join(why, "; ")
}

// openRow is a limit whose change is not known, where no workload tells more; -1: none.
func (r *Report) openRow() int {
	if r.manifests {
		return -1
	}
	return slices.IndexFunc(r.Limits, func(l LimitRow) bool { return l.Effect == EffectUnknown })
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
		switch {
		case i.Why != "":
			return fmt.Sprintf("%s:%d is not looked at: %s; remove that by hand", phrase.Clean(i.Path), i.Line, i.Why)
		case !i.Removable:
			return fmt.Sprintf("%s:%d has more than a call of Set and the handling of its results, or its types are not known (go mod download may help): remove that by hand", phrase.Clean(i.Path), i.Line)
		}
	}
	return ""
}

// Program is the main package to measure: the named one, or the only one that runs automaxprocs.
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

// BuildBoth builds a main package as it is and without automaxprocs, and changes no file.
func (r *Report) BuildBoth(ctx context.Context, o Options, pkg, before, after string) error {
	if err := source.Listable(o.Dir, o.Environ, folder.NewTree(o.Dir)); err != nil {
		return fmt.Errorf("the go command %w", err)
	}
	fixed, err := r.drop(ctx, o)
	if err != nil {
		return err
	}
	if len(fixed.Fixed) == 0 {
		return errors.New("procfit cannot remove the import, so there is no program without it to measure")
	}
	dir, err := os.MkdirTemp("", "procfit-migrate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, fixed.Fixed)
	if err != nil {
		return err
	}
	g := toolchain.Go{Path: "go", Dir: o.Dir, Env: o.Environ}
	if _, err := g.Run(ctx, "build", "-buildvcs=false", "-o", before, "--", pkg); err != nil {
		return err
	}
	_, err = g.Run(ctx, "build", "-buildvcs=false", "-overlay", overlay, "-o", after, "--", pkg)
	return err
}

func writeOverlay(dir string, files []check.Fixed) (overlay string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, f := range files {
		from, err := filepath.Abs(filepath.FromSlash(f.Path))
		if err != nil {
			return "", err
		}
		if replace[from] = ""; f.After == nil { // to the go command, there is none
			continue
		}
		replace[from] = filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(replace[from], f.After, 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
