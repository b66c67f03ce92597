// Package migrate says what changes for the programs of a module that lose
// go.uber.org/automaxprocs, and removes it.
//
// # Model
//
// A [Module] is read from its go.mod, from its source, and from what the go command lists of its
// packages and their imports. It gives the [Program]s with the calls of automaxprocs that they
// start with. A manifest that runs one of them is a [Workload]: its facts are decided by the policy
// of automaxprocs with the options of those calls, and by that of the runtime, and what differs is
// a [Change]. Without manifests, the same is decided for a table of limits.
//
// # Limits
//
//   - Options that are not written in the call of Set, and those of a dependency's call, are not
//     known; then the value before is not known.
//   - Which container runs which program is decided by names, as package check does it.
//   - What a cluster does at run time, a resize or more CPUs at the start, is not in a manifest.
package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Path is the module that is migrated from.
const Path = "go.uber.org/automaxprocs"

// Options are what to look at.
type Options struct {
	Dir        string   // of the go.mod
	Manifests  []string // files and folders; none: a table of limits
	Containers []string // names of containers that run the module's programs, whatever these are called
	NodeCPUs   int      // of the machines; 0: not known
	Environ    []string // of the go command
	// Cluster checks what runs in a cluster, with the programs that it may run; nil: it is not asked.
	Cluster func(context.Context, []check.Candidate) (*check.Report, error)
	Slow    func(message string) // gets what is waited for
}

// Report is what a migration changes.
type Report struct {
	Schema    string          `json:"schema"`
	Module    Module          `json:"module"`
	Programs  []Program       `json:"programs"`
	Workloads []Workload      `json:"workloads"`
	Limits    []LimitRow      `json:"limits"`           // by CPU limit, for each set of options
	Others    int             `json:"other_containers"` // that are not known to run one of the programs
	Fixed     []string        `json:"fixed_files"`      // that --fix has written or removed
	Removable bool            `json:"removable"`        // all imports of the module go by a fix
	Problems  []check.Problem `json:"-"`
	Errors    []Place         `json:"errors"`
	Notes     []Place         `json:"notes"`
	Proof     []Proof         `json:"proof"`
	manifests bool
	nested    []string // folders of other modules in the folder of this one, with a slash at the end

	untracked  bool // no git repository has the module
	unvendored bool // --fix has removed the imports, and go mod vendor is still to follow

	sets func(goMod string, u check.Use) check.MaySet // how the source of a program sets GOMAXPROCS
}

// Place is a message about a place.
type Place struct {
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// Schema is the name of the JSON.
const Schema = "procfit.migrate/v1"

// Look reads a module and what runs it.
func Look(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Schema: Schema, Programs: []Program{}, Workloads: []Workload{}, Limits: []LimitRow{}, Fixed: []string{}, Notes: []Place{}, Proof: []Proof{}, manifests: len(o.Manifests) > 0 || o.Cluster != nil}
	tree := folder.NewTree(o.Dir)
	if err := r.module(o, tree); err != nil {
		return nil, err
	}
	imports, err := r.source(ctx, o, tree)
	if err != nil {
		return nil, err
	}
	r.programs(ctx, o, tree, imports)
	for i := range r.Programs {
		p := &r.Programs[i]
		p.maySet = r.sets(r.Module.File, check.Use{Name: strings.Join(check.NamesOf(p.Package), "")}).Words
	}
	if r.Module.Version == "" && len(imports) == 0 && len(r.Module.Imports) == 0 {
		return r, nil
	}
	r.Removable = len(imports) > 0 && !slices.ContainsFunc(r.own(), func(i Import) bool { return !i.Removable })
	if err := r.workloads(ctx, o); err != nil {
		return nil, err
	}
	r.limits()
	return r, nil
}

func (r *Report) module(o Options, tree *folder.Tree) error {
	file := filepath.Join(o.Dir, "go.mod")
	text, err := tree.Read(file, check.MostModule)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no go.mod in %s: name the folder of a module", phrase.Clean(o.Dir))
	}
	if err != nil {
		return err
	}
	mod, err := check.ModFile(file, text)
	if err != nil {
		return err
	}
	m := Module{File: filepath.ToSlash(file), Imports: []Import{}}
	if mod.Module != nil {
		m.Path = mod.Module.Mod.Path
	}
	if mod.Go != nil {
		m.Go = mod.Go.Version
	}
	if mod.Toolchain != nil {
		m.Toolchain = mod.Toolchain.Name
	}
	for _, q := range mod.Require {
		if q.Mod.Path == Path {
			m.Version, m.Indirect = q.Mod.Version, q.Indirect
		}
	}
	r.Module = m
	if onV2 := (facts.Facts{Cgroup: facts.Cgroup{Version: 2}}); !(facts.Automaxprocs{Release: m.Version}).ReadsLimit(onV2) {
		r.Notes = append(r.Notes, Place{Path: m.File, Message: "automaxprocs " + m.Version + " reads the limits of cgroup v1 only, so the values before are those of nodes with cgroup v1: with cgroup v2 it does nothing, and its removal changes no value"})
	}
	return nil
}

// run leaves out what is in the folders of other modules.
func (r *Report) run(o Options, tree *folder.Tree, use func(source.Automaxprocs)) func(context.Context, map[string][]byte) (*check.Report, error) {
	return func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		own := func(a source.Automaxprocs) {
			if !r.inNested(a.Path) {
				use(a)
			}
		}
		k := source.New(source.Options{Overlay: overlay, Environ: o.Environ, Tree: tree, Automaxprocs: own, Slow: o.Slow})
		r.sets = k.Sets
		report, err := check.Run(ctx, check.Options{Paths: []string{o.Dir}, Checkers: []check.Checker{k}, Overlay: overlay})
		if report != nil {
			report.Findings = slices.DeleteFunc(report.Findings, func(f check.Finding) bool { return r.inNested(f.Path) })
			report.Problems = slices.DeleteFunc(report.Problems, func(p check.Problem) bool { return r.inNested(p.Path) })
			report.Notes = slices.DeleteFunc(report.Notes, func(n check.Note) bool { return r.inNested(n.Path) })
		}
		return report, err
	}
}

func (r *Report) source(ctx context.Context, o Options, tree *folder.Tree) (imports []source.Automaxprocs, err error) {
	found := r.survey(ctx, o, tree)
	report, err := r.run(o, tree, func(a source.Automaxprocs) { imports = append(imports, a) })(ctx, nil)
	if err != nil {
		return nil, err
	}
	r.Problems = append(r.Problems, report.Problems...)
	r.note(report.Notes)
	sorting.Stable(imports, func(a, b source.Automaxprocs) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	for _, a := range imports {
		r.Module.Imports = append(r.Module.Imports, Import{Package: a.Package, Path: a.Path, Line: a.Line, Removable: a.Change != nil})
	}
	r.leftOver(found)
	return imports, nil
}

func (r *Report) note(all []check.Note) {
	r.Notes = append(r.Notes, phrase.Each(all, func(n check.Note) Place { return Place{Path: n.Path, Message: n.Message} })...)
}

func (r *Report) workloads(ctx context.Context, o Options) error {
	if !r.manifests {
		return nil
	}
	candidates, calls := r.candidates(o)
	var reports []*check.Report
	if len(o.Manifests) > 0 {
		programs := &check.Programs{}
		for _, c := range candidates {
			programs.Add(c)
		}
		k := manifest.New(manifest.Options{NodeCPUs: o.NodeCPUs, Programs: programs, Tree: folder.NewTree(o.Manifests...)})
		report, err := check.Run(ctx, check.Options{Paths: o.Manifests, Checkers: []check.Checker{k}})
		if err != nil {
			return err
		}
		reports = append(reports, report)
	}
	if o.Cluster != nil {
		report, err := o.Cluster(ctx, candidates)
		if err != nil {
			return err
		}
		reports = append(reports, report)
	}
	all := check.Merge(reports...)
	r.Problems = append(r.Problems, all.Problems...)
	r.note(all.Notes)
	named := r.named(o)
	for _, v := range all.Values {
		switch u := v.Unit; {
		case u == nil || u.Written != nil && u.Written.Image: // an image has no limit
		case u.Automaxprocs == "":
			r.Others++
		default:
			w := workload(v, calls[u.Automaxprocs])
			if slices.Contains(named, u.Called) {
				w.program = ""
			}
			r.Workloads = append(r.Workloads, w)
		}
	}
	return nil
}

// candidates are the programs as manifests may name them. Their calls go with the version of
// automaxprocs, so that programs that differ in them are not taken for one another.
func (r *Report) candidates(o Options) (all []check.Candidate, calls map[string]source.SetCall) {
	calls = map[string]source.SetCall{}
	others := r.named(o)
	for _, p := range r.Programs {
		c := check.Candidate{Names: check.NamesOf(p.Package)}
		if p.Runs {
			c.Names = append(c.Names, others...)
		}
		c.Program = p.known()
		c.From = p.Package
		if p.Runs {
			c.Automaxprocs = cmp.Or(r.Module.Version, "of an unknown version") + p.Calls.String()
			calls[c.Automaxprocs] = p.Calls
		}
		all = append(all, c)
	}
	return all, calls
}

// named are containers that run automaxprocs, since the user says so, whatever their names.
func (r *Report) named(o Options) []string {
	return slices.DeleteFunc(slices.Clone(o.Containers), func(name string) bool {
		return slices.ContainsFunc(r.Programs, func(p Program) bool { return slices.Contains(check.NamesOf(p.Package), name) })
	})
}

// missing are programs that run automaxprocs, and that no container is known to run.
func (r *Report) missing() (names []string) {
	for _, p := range r.Programs {
		if r.manifests && p.Runs && !slices.ContainsFunc(r.Workloads, func(w Workload) bool { return w.program == p.Package || w.program == "" }) {
			names = append(names, r.Module.short(p.Package))
		}
	}
	return names
}

// Failed is what could not be read, in words; "": everything was.
func (r *Report) Failed() string {
	return (&check.Report{Problems: r.Problems}).Failed()
}

// Changes counts the workloads whose value changes, and those of which that is not known.
func (r *Report) Changes() (changed, unknown int) {
	for _, w := range r.Workloads {
		switch {
		case w.Effect.changes():
			changed++
		case w.Effect == EffectUnknown:
			unknown++
		}
	}
	return changed, unknown
}

// JSON is the Report for programs.
func (r *Report) JSON() ([]byte, error) {
	all := *r
	all.Errors = phrase.Each(r.Problems, func(p check.Problem) Place { return Place{p.Path, p.Line, p.Message} })
	for _, name := range r.missing() {
		all.Notes = append(all.Notes, Place{Message: "no container is known to run " + name + ": name those that do with --container"})
	}
	b, err := json.MarshalIndent(all, "", "  ")
	return append(b, '\n'), err
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
