package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/show/phrase"
)

type stage struct {
	lab.Stage
	Planned
	programs map[string]local.Program
	ran      lab.RanStage
}

// stage settles one; what is in its way is reported of it.
func (r *Run) stage(e lab.Experiment, st lab.Stage) *stage {
	below := filepath.Join(e.ID, st.ID)
	s := &stage{Stage: st, Planned: Planned{Experiment: e.ID, Stage: st.ID}, ran: lab.RanStage{ID: st.ID, Title: st.Title, Scaled: st.Scaled, Directory: filepath.ToSlash(below)}}
	for _, v := range st.GoVersions {
		s.ran.Versions = append(s.ran.Versions, lab.Version{Asked: v})
	}
	built := len(st.GoVersions) > 0 || st.Build != (lab.Build{}) || st.Tree != ""
	spec := r.spec(e, st)
	err := spec.Validate()
	if err == nil {
		err = r.options.Machine.Check(spec, built)
	}
	if err == nil {
		err = lacks(st)
	}
	if err != nil {
		s.ran.NotRun = r.why(err)
		return s
	}
	if built {
		s.programs = map[string]local.Program{}
	}
	s.Session = session.New(spec, session.Options{
		Dir: filepath.Join(r.Dir, below), Spec: r.asked(e), Secrets: r.options.Secrets, Tool: r.options.Tool, Host: r.options.Host, Environ: r.options.Environ, Started: r.options.Now(),
	})
	s.Trials, s.Each, s.Start = s.Session.Missing(), spec.Each(), startStage+compiling*time.Duration(len(st.GoVersions))
	if e.Kind != lab.Server && s.Each > 0 {
		s.Each += startTrial
	}
	if st.Build != (lab.Build{}) {
		s.Start += compiling
	}
	if st.Tree != "" {
		s.Start += copying
	}
	return s
}

// lacks says what of the system a stage's program cannot do without and there is not.
func lacks(st lab.Stage) error {
	for _, name := range st.Needs {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("it needs the command %s, which is not on PATH: install it", name)
		}
	}
	if st.Build == (lab.Build{}) {
		return nil
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("it is compiled, and there is no go command on PATH: install Go")
	}
	_, err := toolchain.CCompiler()
	return err
}

// spec is what a stage measures, with the command that starts its practice program
// and the URL that loads it.
func (r *Run) spec(e lab.Experiment, st lab.Stage) plan.Spec {
	s := st.Spec
	s.Seed = r.options.Seed
	if b := s.Target.Beside; b != nil {
		neighbour := *b
		neighbour.Command = append([]string{r.options.Self, "lab", "program"}, b.Command...)
		s.Target.Beside = &neighbour
	}
	if target := r.options.Machine.Target; target != nil {
		target(&s, st)
		return s
	}
	switch e.Kind {
	case lab.Server:
		s.Target.Command = append([]string{r.options.Self, "lab", "serve", e.ID}, arguments(e, st)...)
		s.Target.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/" + st.Path
	case lab.Batch:
		s.Target.Command = append([]string{r.options.Self, "lab", "program", e.ID}, arguments(e, st)...)
	}
	return s
}

// arguments are the practice program's, wherever it comes from.
func arguments(e lab.Experiment, st lab.Stage) []string {
	if e.Kind == lab.Server {
		return append([]string{"--addr=127.0.0.1:" + plan.PortPlaceholder}, st.Args...)
	}
	return st.Args
}

// begun are the releases that trials of an earlier run were made with, by the version
// that was asked for: 1.26 may mean a newer one today, and a setting has one.
func (s *stage) begun() map[string]string {
	releases := map[string]string{}
	for _, t := range s.Session.Journal().Trials {
		if v := release(t.ObservedGoVersion); v != "" {
			releases[t.Setting.GoVersion] = v
		}
	}
	return releases
}

// prepare compiles what the stage runs: its versions, or, by the release that procfit is of, what
// stands in the place of procfit's own program.
func (s *stage) prepare(ctx context.Context, c *compilers, e lab.Experiment, own string) error {
	begun := s.begun()
	for i, v := range s.GoVersions {
		ready, full, err := c.build(ctx, e, compiled{version: cmp.Or(begun[v], v), language: s.Language})
		if err != nil {
			return err
		}
		if ready.Err != nil {
			s.ran.Versions[i].Fault = phrase.Plain(ready.Err)
		} else {
			ready.Command = append(slices.Clip(ready.Command), arguments(e, s.Stage)...)
		}
		s.ran.Versions[i].Full = full
		s.programs[v] = ready
	}
	var err error
	switch {
	case s.Build != (lab.Build{}):
		var ready local.Program
		ready, _, err = c.build(ctx, e, compiled{version: cmp.Or(begun[""], release(own)), how: s.Build})
		ready.Command = append(slices.Clip(ready.Command), arguments(e, s.Stage)...)
		s.programs[""] = ready
	case s.Tree != "" && s.programs[""].Command == nil: // which is warm after its first turn
		s.programs[""], err = c.command(ctx, s.Stage)
	}
	return err
}

// release is the Go release of what runtime.Version says.
func release(version string) string {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "go"), " ") // X: experiments
	return version
}
