package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/cli/schematest"
	"github.com/procfit/procfit/internal/host/git"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// writeFleet makes what the examples of procfit fleet name.
func writeFleet(t *testing.T) {
	writeManifest(t)
	writeProgram(t, "./api")
	must.Write(t, "fleet.yaml", "services: {api: {target: {command: [./api]}, manifest: deploy/api.yaml}}\n")
	repositoryHere(t)
}

// repositoryHere makes a repository of the current folder, with a commit of all that is there.
func repositoryHere(t *testing.T) {
	t.Helper()
	need.Command(t, "git")
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.com", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.com",
	} {
		t.Setenv(name, value)
	}
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "."}, {"commit", "--quiet", "--message=all"}} {
		must.Output(t, exec.Command("git", args...))
	}
}

func TestMachineName(t *testing.T) {
	for want, h := range map[string]journal.Host{
		"intel-xeon-platinum-8370c-2.80ghz-4cpus": {CPUModel: "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz", AffinityCPUs: 4, EffectiveCPUs: 4},
		"amd-epyc-7763-64-core-2cpus-limit1.5":    {CPUModel: "AMD EPYC 7763 64-Core Processor", AffinityCPUs: 2, EffectiveCPUs: 1.5, CPUs: 8},
		"arm64-8cpus":                             {Arch: "arm64", CPUs: 8},
		"odd_.._name-1cpus":                       {CPUModel: "odd/../name", AffinityCPUs: 1},
	} {
		if got := session.MachineName(h); got != want {
			t.Errorf("%q is %s, want %s", h.CPUModel, got, want)
		}
	}
}

// fleetFile is a fleet.yaml of services of these names, each with a manifest.
func fleetFile(t *testing.T, names ...string) string {
	text := "services:\n"
	for _, name := range names {
		text += fmt.Sprintf("  %s: {target: {command: [./%[1]s]}, manifest: deploy/%[1]s.yaml}\n", name)
		must.Write(t, "deploy/"+name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers:
  - name: app
    image: x
`, name))
	}
	return text
}

// swept writes results of a command in which 1 and 4 have these throughputs, and the default
// is 4.
func swept(t *testing.T, dir string, day int, one, four float64, command ...string) {
	h, trials := verdicttest.Generate(verdicttest.Config{
		Seed: uint64(day), Noise: &verdicttest.Noise{Trial: 0.005, P99: 0.01}, Blocks: 8, CPUs: 4,
		Settings: []verdicttest.Truth{verdicttest.Unset(4, four, .010), verdicttest.Set(1, one, .010), verdicttest.Set(4, four, .010)},
	})
	h.Started = time.Date(2026, 1, day, 12, 0, 0, 0, time.UTC)
	h.Spec = spec.Spec{Command: "sweep", Program: append([]string{"./api"}, command...)}
	writeRun(t, dir, h, trials)
}

// TestFleetJudges: what is proposed is what the results of this commit prove, next to the
// last ones of the same machine; what cannot be written safely is not, with its reason.
func TestFleetJudges(t *testing.T) {
	known := must.Get(schematest.Load())(t)
	t.Chdir(t.TempDir())
	must.Write(t, "fleet.yaml", fleetFile(t, "api", "web", "same", "other"))
	must.Write(t, "deploy/web.yaml", must.Read(t, "deploy/web.yaml")+"    resources: {limits: {cpu: 2}}\n")
	repositoryHere(t)
	o := &fleetOptions{file: "fleet.yaml", out: "results", branch: fleetBranch, link: "https://ci.example/7", printed: printed("text", "json")}
	f := must.Get(o.prepare(t.Context(), quiet()))(t)
	swept(t, "results/api/m/old", 1, 1000, 600)
	swept(t, "results/api/m/new", 2, 1000, 600)
	swept(t, "results/web/m/new", 2, 1000, 600)
	swept(t, "results/same/m/new", 2, 300, 600)
	swept(t, "results/other/m/old", 1, 1000, 600)
	swept(t, "results/other/m/new", 2, 700, 600)
	swept(t, "results/other/elsewhere/old", 1, 300, 600)
	for _, s := range f.services {
		out := fleet.Service{Name: s.Name, Folder: s.Name + "/m/new", Manifest: &fleet.Manifest{Path: s.Manifest, Object: s.chosen.Value.Object, Container: "app", Procs: s.chosen.Value.Procs, Text: s.chosen.Value.Text, Source: s.chosen.Value.Source}}
		must.OK(t, f.judge("results/"+out.Folder, s, &out))
		f.outcome.Services = append(f.outcome.Services, out)
	}
	must.OK(t, f.propose(t.Context(), quiet()))
	api, web, same, other := f.outcome.Services[0], f.outcome.Services[1], f.outcome.Services[2], f.outcome.Services[3]
	switch {
	case api.Proposed == nil || len(api.Proposed.Commit) < 40 || api.Since == nil || api.Since.Folder != "api/m/old" || api.Since.Moved || len(api.Since.Worse) > 0:
		t.Errorf("api: %+v, %+v", api.Proposed, api.Since)
	case web.Proposed == nil || !strings.Contains(web.Proposed.Refused, "PF061") || web.Since != nil:
		t.Errorf("web: %+v, %+v", web.Proposed, web.Since)
	case same.Proposed != nil || same.Changed():
		t.Errorf("same: %+v", same)
	case other.Proposed == nil || other.Since == nil || other.Since.Folder != "other/m/old" || len(other.Since.Worse) != 1:
		t.Errorf("other: %+v, %+v", other.Proposed, other.Since)
	}
	log := must.Output(t, exec.Command("git", "log", "--format=%B", "main..procfit/fleet"))
	must.Say(t, log, "api: GOMAXPROCS=1\n\nContainer app of Pod/api has ", "Report: https://ci.example/7/api/m/new/RESULTS.md\nMeasure again: procfit sweep --seed ", "\nMeasured on 2026-01-02 by procfit ", git.Mark)
	var out bytes.Buffer
	std := newStdio(t.Context(), nil, &out, &out, nil)
	must.OK(t, f.publish(std))
	must.Say(t, strings.Join(strings.Fields(out.String()), " "), "3 services should use another value", "1 service is proven worse than the last time", "branch procfit/fleet sets GOMAXPROCS=1 in deploy/api.yaml", "is not proposed for deploy/web.yaml", "git log -p HEAD..procfit/fleet", "since 2026-01-01")
	must.Get(os.Stat("results/fleet.json"))(t)
	if err := known.CheckFolder("results"); err != nil {
		t.Error(err)
	}
	if err := f.verdict(nil); err == nil || err.(*exitError).code != exitGate || !strings.Contains(err.Error(), "3 services to change or to look at: api, web and other") {
		t.Error(err)
	}
	f.outcome.Services[0].Failed = "crashed"
	if err := f.verdict(nil); err == nil || !strings.Contains(err.Error(), "1 service has no result: api") {
		t.Error(err)
	}

	// A command of several lines cannot be in an annotation, which the value can do without.
	swept(t, "results/api/m/lines", 3, 1000, 600, "-c", "a\nb")
	lines := fleet.Service{Manifest: api.Manifest}
	if err := f.judge("results/api/m/lines", f.services[0], &lines); err != nil || lines.Since == nil {
		t.Errorf("%v: %+v", err, lines)
	}
	if text, err := f.set(t.Context(), f.services[0], &lines, f.services[0].manifest.Text); err != nil || !strings.Contains(string(text), expected.Annotation) || strings.Contains(string(text), "again") {
		t.Errorf("%v: %s", err, text)
	}

	// A run that proposes nothing keeps the branch of the one before, with a notice.
	for i := range f.outcome.Services {
		f.outcome.Services[i].Manifest.Procs = f.outcome.Services[i].Procs
	}
	var notice bytes.Buffer
	if err := f.propose(t.Context(), newStdio(t.Context(), nil, io.Discard, &notice, nil)); err != nil || !strings.Contains(notice.String(), "branch procfit/fleet still has the proposals of an earlier run") {
		t.Errorf("%v: %s", err, &notice)
	}
}

// fleetOf is a run of a fleet.yaml, in a folder of its own.
func fleetOf(t *testing.T, std stdio, dryRun bool, text string) *fleetRun {
	t.Helper()
	t.Chdir(t.TempDir())
	must.Write(t, "fleet.yaml", text)
	o := &fleetOptions{file: "fleet.yaml", out: "results", dryRun: dryRun, printed: printed("text", "json")}
	return must.Get(o.prepare(t.Context(), std))(t)
}

// planned are trials of all that a run is to measure.
func planned(run *session.Session) (trials []journal.Trial) {
	for _, task := range plan.Next(run.Header, plan.Record{}).Tasks {
		trials = append(trials, journal.Trial{Setting: task.Setting, Role: task.Role, Block: task.Block, Order: task.Order, Valid: true})
	}
	return trials
}

// TestFleetFolders: results go where those of the same commit continue, or next to them.
func TestFleetFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	f := &fleetRun{fleetOptions: &fleetOptions{out: "results"}, commit: "abc"}
	s := &fleetService{Service: &specfile.Service{Name: "api"}, fleetJob: f.job(false)}
	want := func(fresh bool, dir, like string) {
		t.Helper()
		if got := f.placing(s, fresh)("m"); got != filepath.FromSlash(dir) || s.like != filepath.FromSlash(like) {
			t.Errorf("fresh %v: %s, like %q; want %s, %q", fresh, got, s.like, dir, like)
		}
	}
	want(false, "results/api/m/abc", "")
	swept(t, "results/api/m/old", 2, 1000, 600)
	swept(t, "results/api/m/older", 1, 1000, 600)
	want(false, "results/api/m/abc", "results/api/m/old")
	swept(t, "results/api/m/abc", 4, 1000, 600)
	want(false, "results/api/m/abc", "results/api/m/old")
	want(true, "results/api/m/abc-2", "results/api/m/abc")
	h, trials := verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Set(1, 1, 1)}, Blocks: 1, Trial: func(t *journal.Trial) {
		t.Valid, t.InvalidReason, t.InvalidCode = false, "exited", journal.InvalidExit
	}})
	writeRun(t, "results/api/m/abc-2", h, trials)
	want(false, "results/api/m/abc-3", "results/api/m/abc")
}

// A dry run shows which services have results at this commit, and what is measured of them.
func TestFleetDryRun(t *testing.T) {
	f := fleetOf(t, quiet(), true, "services: {api: {target: {command: [sh, ./job]}, compare: {procs: [1, 2]}}}\nstop: {repeats: 2}\nload: {trialTime: 1ms}\n")
	s := f.services[0]
	described := func() string {
		t.Helper()
		var out bytes.Buffer
		must.OK(t, f.describe(t.Context(), newStdio(t.Context(), nil, &out, io.Discard, nil)))
		return out.String()
	}
	run := must.Get(s.resolve(t.Context(), quiet(), f.placing(s, false)))(t)
	trials := planned(run)
	cost := fmt.Sprintf("api: sh at GOMAXPROCS 1, 2\n  %d trials", len(trials))
	if got := described(); !strings.HasPrefix(got, cost) || !strings.HasSuffix(got, "results in "+run.Dir+"\n") {
		t.Errorf("%q, want %s", got, cost)
	}
	writeRun(t, run.Dir, run.Header, trials)
	if got := described(); got != "api: its results at this commit are in "+run.Dir+"; nothing is measured\n" {
		t.Errorf("%q", got)
	}
	var started []string // what is complete needs no runner
	carryOut := s.carryOut
	s.carryOut = func(_ context.Context, _ stdio, run *session.Session) error {
		started = append(started, run.Dir)
		return nil
	}
	if dir, err := f.sweep(t.Context(), quiet(), s); err != nil || dir != run.Dir || started != nil {
		t.Errorf("%s, %v; started %q", dir, err, started)
	}
	if _, err := os.Stat(filepath.Join(run.Dir, "RESULTS.md")); err != nil {
		t.Error(err)
	}
	s.spec.Margin *= 2
	if dir, err := f.sweep(t.Context(), quiet(), s); err != nil || dir != run.Dir+"-2" || !slices.Equal(started, []string{dir}) {
		t.Errorf("other settings: %s, %v; started %q", dir, err, started)
	}
	s.spec.Margin /= 2
	s.carryOut = carryOut
	f.again = true
	if got := described(); !strings.HasPrefix(got, cost) || !strings.HasSuffix(got, "results in "+run.Dir+"-2\n") {
		t.Errorf("%q, want %s", got, cost)
	}
}

// A dry run does not say that nothing is measured of a service that is to be profiled.
func TestFleetDryRunOfProfiles(t *testing.T) {
	f := fleetOf(t, quiet(), true, "services: {api: {target: {command: [sh, ./job, '{port}'], url: 'http://127.0.0.1:{port}/'}, compare: {procs: [1, 2]}}}\nstop: {repeats: 2}\nload: {rate: 10}\n")
	s := f.services[0]
	s.spec.Load.Shared, s.spec.Profile = true, plan.ProfileOwn
	run := must.Get(s.resolve(t.Context(), quiet(), f.placing(s, false)))(t)
	writeRun(t, run.Dir, run.Header, planned(run))
	var out bytes.Buffer
	err := f.describe(t.Context(), newStdio(t.Context(), nil, &out, io.Discard, nil))
	if got := out.String(); err != nil || !strings.Contains(got, ", all of them done\n") || !strings.Contains(got, "  then profiles of the verdict's value") {
		t.Errorf("%v: %q", err, got)
	}
}

// Why a service was not measured is on the page in plain words.
func TestFleetFailure(t *testing.T) {
	f := fleetOf(t, quiet(), false, "services: {api: {target: {command: [sh, ./job]}}}\n")
	must.Write(t, "results/api", "")
	err := f.measure(t.Context(), quiet())
	if why := f.outcome.Services[0].Failed; err == nil || err.Error() != "1 service has no result: api" || !strings.HasPrefix(why, "--out: results/api/") || !strings.Contains(why, "not a directory") {
		t.Errorf("%v: %q", err, why)
	}
}

// The schema of fleet.yaml takes what the reader takes.
func TestFleetSchema(t *testing.T) {
	known := must.Get(schematest.Load())(t)
	for text, valid := range map[string]bool{
		"services: {api: {file: a.yaml, manifest: b.yaml, object: Deployment/api, container: app}}":     true,
		"services: {api: {target: {command: [a, b]}, stop: {for: 5m}}}\ncompare: {procs: [default, 1]}": true,
		"services: {api: {cluster: {object: deployment/api, image: x}}}":                                true,
		"services: {api: {fil: a.yaml}}":             false,
		"load: {trialTime: 2s}":                      false,
		"services: {api: {target: {comand: a}}}":     false,
		"services: {api: {file: a}}\ncheck: {go: 1}": false,
	} {
		_, failed := specfile.ReadFleet("fleet.yaml", []byte(text), fleetRows())
		var v any
		must.OK(t, yaml.Unmarshal([]byte(text), &v))
		var again any
		must.OK(t, json.Unmarshal(must.Get(json.Marshal(v))(t), &again))
		err := known.Validate("fleetfile", again)
		if (failed == nil) != valid || (err == nil) != valid {
			t.Errorf("%s: read %v, schema %v", text, failed, err)
		}
	}
}

// An interrupted run says so, and is not a failure of the services.
func TestFleetInterrupted(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	std := newStdio(ended, nil, &out, &errs, nil)
	f := fleetOf(t, std, false, "services: {api: {target: {command: [./api]}}}\n")
	cancel()
	err := f.measure(ended, std)
	if coded := (*exitError)(nil); err == nil || !errors.As(err, &coded) || coded.code != exitInterrupted || !strings.Contains(out.String(), "the run was interrupted") || !strings.Contains(errs.String(), "the same command continues") {
		t.Errorf("%v\n%s\n%s", err, out.String(), errs.String())
	}
}
