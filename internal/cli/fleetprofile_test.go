package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// planned are trials of all that a run is to measure.
func planned(run *session.Session) (trials []journal.Trial) {
	for _, task := range plan.Next(run.Header, plan.Record{}).Tasks {
		trials = append(trials, journal.Trial{Setting: task.Setting, Role: task.Role, Block: task.Block, Order: task.Order, Valid: true})
	}
	return trials
}

// A dry run does not say that nothing is measured of a service that is to be profiled.
func TestFleetDryRunOfProfiles(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.WriteFile("fleet.yaml", []byte("services: {api: {target: {command: [sh, ./job, '{port}'], url: 'http://127.0.0.1:{port}/'}, compare: {procs: [1, 2]}}}\nstop: {repeats: 2}\nload: {rate: 10}\n"), 0o600))
	o := &fleetOptions{file: "fleet.yaml", out: "results", dryRun: true, printed: printed("text", "json")}
	f, err := o.prepare(t.Context(), quiet())
	must.OK(t, err)
	s := f.services[0]
	s.spec.Load.Shared, s.spec.Profile = true, plan.ProfileOwn
	run, err := s.resolve(t.Context(), quiet(), f.placing(s, false))
	must.OK(t, err)
	writeRun(t, run.Dir, run.Header, planned(run))
	var out bytes.Buffer
	err = f.describe(t.Context(), newStdio(t.Context(), nil, &out, io.Discard, nil))
	if got := out.String(); err != nil || !strings.Contains(got, ", all of them done\n") || !strings.Contains(got, "  then profiles of the verdict's value") {
		t.Errorf("%v: %q", err, got)
	}
}
