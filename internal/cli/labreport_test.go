package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab"
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
}
