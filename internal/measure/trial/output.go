package trial

import (
	"fmt"
	"os"
	"strings"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// CreateLog creates the file for a target's output; path is its name in the results folder.
type CreateLog func(name string) (f *os.File, path string, err error)

// LogLimit is how much of a replica's output in one run is kept, in bytes.
const LogLimit = 4 << 20

// LogName is the name of a replica's log, without its suffix.
func (t *Task) LogName(replica int) string {
	name := fmt.Sprintf("block%02d-%02d-%s", t.Block+1, t.Order+1, t.Setting.Label)
	if t.Role == journal.RolePilot {
		name = fmt.Sprintf("pilot%d", t.Block+1)
		if t.Setting.Variant != "" || t.Setting.Procs != nil { // of a gate
			name += "-" + t.Setting.Label
		}
		if t.Setting.QuotaCPUs != nil {
			name += fmt.Sprintf("-quota%g", *t.Setting.QuotaCPUs)
		}
		name += t.Setting.GoVersion
		if t.Setting.Replicas > 1 {
			name += fmt.Sprintf("-replicas%d", t.Setting.Replicas)
		}
	}
	if t.Role == plan.RoleProfile {
		name = "profile-" + plan.ProfileName(t.Setting)
	}
	if t.Tried > 0 {
		name += fmt.Sprintf("-try%d", t.Tried+1)
	}
	if t.Setting.Replicas > 1 {
		name += fmt.Sprintf("-replica%d", replica+1)
	}
	return plan.FileName(name)
}

// startupBytes is how much of an output is searched for what a program logs as it starts.
const startupBytes = 64 << 10

// procsNamed is GOMAXPROCS as programs and libraries log it: "maxprocs: Updating
// GOMAXPROCS=2", "gomaxprocs: 2", "max_procs=2".
var procsNamed = pattern.Of(`(?i)max_?procs`)

func logsProcs(o load.Output) *bool {
	return new(procsNamed().Match(o.Head[:min(len(o.Head), startupBytes)]))
}

// logged records whether the program names GOMAXPROCS as it starts. A node rotates the
// logs of its pods, so that there an output may lack its beginning, and that of a test
// binary is without what it writes to stderr: there only a find counts.
func (t *Task) logged(outputs []load.Output) {
	if len(outputs) == 0 {
		return
	}
	target := t.Spec.Target
	whole := t.Trial.Origin != journal.OriginKube && (target.Kind() != journal.KindGoBench || target.Benchmarks)
	if logs := logsProcs(outputs[0]); *logs || whole {
		t.Trial.ProcsLogged = logs
	}
}

// Quote is the end of an output, or where a crash starts in it.
func Quote(o load.Output) supervisor.Quote {
	return supervisor.QuoteOutput([]byte(strings.Join([]string{string(o.Head), string(o.Tail)}, "")), supervisor.QuotedLines)
}
