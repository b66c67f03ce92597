package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/test/must"
)

// A run without a trial is no result: its report has why, and so has the error.
func TestLabReportOfNothing(t *testing.T) {
	dir := t.TempDir()
	o := lab.Outcome{Schema: lab.OutcomeSchema, Experiments: []lab.Ran{{ID: "chain", Stages: []lab.RanStage{{Directory: "chain"}}}, {ID: "sieve"}}}
	must.OK(t, o.Write(dir))
	var out bytes.Buffer
	std := newStdio(t.Context(), nil, &out, io.Discard, nil)
	if err := reportLab(std, dir, false); err == nil || err.Error() != dir+" holds no valid trial: not run yet" || !strings.Contains(out.String(), "not run yet") {
		t.Errorf("%v\n%s", err, &out)
	}
	// One that cannot be written is printed.
	out.Reset()
	index := filepath.Join(dir, "index.html")
	must.OK(t, os.Remove(index))
	must.OK(t, os.Mkdir(index, 0o755))
	if err := reportLab(std, dir, false); err == nil || !strings.Contains(err.Error(), index) || !strings.Contains(out.String(), "not run yet") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// The lab places programs on the CPUs that procfit may use.
func TestLabAllowed(t *testing.T) {
	std := newStdio(t.Context(), nil, io.Discard, io.Discard, nil)
	o := &labOptions{spec: plan.NewFlags(), printed: printed("text", "json"), ids: []string{"cpuserver"}}
	o.bind(std, &cobra.Command{}, o.fields())
	c := must.Get(o.chosen(std))(t)
	if got, want := slices.Sorted(slices.Values(c.Allowed)), topology.Allowed(); !slices.Equal(got, want) {
		t.Errorf("%v of %v", got, want)
	}
}
