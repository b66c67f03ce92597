package local

import (
	"fmt"
	"os"
	"runtime"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Config is what a sweep takes on this machine in addition to its Spec.
type Config struct {
	Environ       []string // the target's environment; GOMAXPROCS in it is replaced
	CreateLog     trial.CreateLog
	CreateProfile trial.CreateLog // for a Spec with profiles
	// Programs are ready to be run, by the setting's Go version, instead of the Spec's
	// command, which then only names them. They may be filled in until Prepare.
	Programs map[string]Program
	Host     journal.Host // of a rehearsal: what other programs used on it makes a start doubtful
}

// Program is a command to run as it is, or why the trials of its settings are invalid.
type Program struct {
	Command []string
	Err     error
}

// Check says what of a valid Spec cannot be had on this machine, as a
// *plan.FieldError: a command, a CPU.
func Check(spec plan.Spec, built bool) error {
	t := spec.Target
	var own, beside, load []string
	if t.Build == "" && !built && t.Attach == nil {
		own = t.Command
	}
	if t.Beside != nil {
		beside = t.Beside.Command
	}
	if spec.Load.Command != "" {
		var err error
		if load, err = spec.LoadCommand(target.ExpandPort([]string{t.URL}, 1), spec.Load.Rate); err != nil {
			return plan.WrongBy("load", err)
		}
	}
	for _, c := range []struct {
		field, prefix string
		command       []string
	}{{"command", "", own}, {"command", "OLD: ", t.Against}, {"prepare", "", t.Prepare}, {"beside", "", beside}, {"ready", "", t.Ready.Command}, {"load", "", load}} {
		if len(c.command) == 0 {
			continue
		}
		if err := supervisor.CheckCommand(c.command[0]); err != nil {
			return plan.WrongBy(c.field, fmt.Errorf("%s%w", c.prefix, err))
		}
	}
	if err := checkCPUs("target", t.CPUs); err != nil {
		return err
	}
	return checkCPUs("load", spec.Load.CPUs)
}

func checkCPUs(whose string, cpus []int) error {
	for _, n := range cpus {
		if _, err := os.Stat(fmt.Sprintf("/sys/devices/system/cpu/cpu%d", n)); runtime.GOOS == "linux" && err != nil {
			return plan.Wrong("cpus", " %s=%d: this machine has no CPU %[2]d", whose, n)
		}
	}
	return nil
}
