package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/program/profile"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Profile implements plan.Profiler.
func (r *runner) Profile(ctx context.Context, a journal.Setting, starts func()) (journal.Profiled, error) {
	out := journal.Profiled{Setting: a, Started: time.Now()}
	if r.profiles.missing != nil {
		out.Missing = r.profiles.missing.Error()
		return out, nil
	}
	starts()
	spec, programs := r.spec, r.programs
	defer func() { r.spec, r.programs = spec, programs }()
	r.spec = spec.Profiled()
	one := &run{runner: r, Task: trial.NewTask(journal.OriginLocal, r.spec, plan.Task{Setting: a, Role: plan.RoleProfile, SawGo: true}, nil, r.told)}
	if spec.Load.Command != "" && spec.Load.Rate > 0 {
		one.RatePerSecond = &spec.Load.Rate // the command may ask for one
	}
	tests := !spec.Target.IsServer()
	if tests {
		if err := unwritten(r.builds); err != nil {
			return out, err
		}
		r.programs = writing(programs, r.builds)
	} else {
		one.profiling = &profiling{seconds: int(spec.ProfileTakes() / time.Second)}
	}
	t, err := trial.Run(ctx, one, one.Task)
	if err != nil {
		return out, err
	}
	out.DurationSeconds = t.DurationSeconds
	if len(t.ObservedProcs) > 0 {
		out.ObservedProcs = t.ObservedProcs[0]
	}
	switch {
	case !t.Valid:
		out.Missing = t.InvalidReason
	case tests:
		cpu, memory := written(r.builds)
		r.keepProfiles(&out, cpu, memory)
	default:
		r.keepProfiles(&out, one.profiling.cpu, one.profiling.memory)
	}
	return out, nil
}

// keepProfiles puts the two profiles into the results folder.
func (r *runner) keepProfiles(out *journal.Profiled, cpu, memory window) {
	var lack []string
	for _, one := range []struct {
		window
		to **journal.Profile
	}{{cpu, &out.CPU}, {memory, &out.Allocations}} {
		kept, err := r.keepProfile(plan.ProfileName(out.Setting)+"-"+string(one.kind)+".pprof", one.window)
		if *one.to = kept; err != nil {
			lack = append(lack, phrase.Plain(err))
		}
	}
	out.Missing = phrase.Semicolons(lack)
}

// keepProfile writes a profile into the results folder; it is what the journal has of it.
func (r *runner) keepProfile(name string, w window) (*journal.Profile, error) {
	if w.err != nil {
		return nil, w.err
	}
	f, path, err := r.config.CreateProfile(name)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(w.bytes)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	s := w.sums
	p := &journal.Profile{File: path, Seconds: w.seconds(), Total: s.Total, Functions: []journal.ProfiledFunction{}, Left: s.Left}
	for _, one := range s.Functions {
		p.Functions = append(p.Functions, journal.ProfiledFunction(one))
	}
	return p, nil
}

// testFile is the file of a test binary's profile. Each copy of the binary has a port of its own.
func testFile(dir string, kind profile.Kind, of string) string {
	return filepath.Join(dir, string(kind)+"-"+of+".pprof")
}

// writing are the programs, each of which writes its profiles into a folder.
func writing(programs map[programKey]program, dir string) map[programKey]program {
	all := maps.Clone(programs)
	for key, p := range all {
		if p.missing != nil {
			continue
		}
		p.argv = gobench.Profiled(p.argv, testFile(dir, profile.CPU, plan.PortPlaceholder), testFile(dir, profile.Allocations, plan.PortPlaceholder))
		all[key] = p
	}
	return all
}

// unwritten removes what an earlier run has written.
func unwritten(dir string) error {
	for _, kind := range []profile.Kind{profile.CPU, profile.Allocations} {
		for _, path := range testFiles(dir, kind) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func testFiles(dir string, kind profile.Kind) []string {
	found, _ := filepath.Glob(testFile(strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`).Replace(dir), kind, "*")) // the pattern is ours
	return found
}

// written are the profiles that a test binary has written; of several copies those of one.
func written(dir string) (cpu, memory window) {
	read := func(kind profile.Kind) window {
		w := window{kind: kind}
		found := testFiles(dir, kind)
		if len(found) == 0 {
			w.err = fmt.Errorf("the test wrote no %s profile", kind.Name())
			return w
		}
		if w.bytes, w.err = profile.ReadFile(found[0]); w.err == nil {
			w.read()
		}
		return w
	}
	cpu, memory = read(profile.CPU), read(profile.Allocations)
	cpu.to = cpu.from.Add(time.Duration(cpu.sums.Seconds * float64(time.Second)))
	memory.from, memory.to = cpu.from, cpu.to
	return cpu, memory
}
