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
	Environ   []string // the target's environment; GOMAXPROCS in it is replaced
	CreateLog trial.CreateLog
	// CreateProfile makes the file of a profile, as CreateLog does of a log. Only a Spec with
	// profiles needs it.
	CreateProfile trial.CreateLog
	// Programs are ready to be run, by the setting's Go version, instead of the Spec's
	// command, which then only names them. They may be filled in until Prepare.
	Programs map[string]Program
	// Host is the machine of a rehearsal: what other programs used on it makes a start doubtful.
	Host journal.Host
}

// Program is a command to run as it is, or why it cannot be had: then the trials of
// its settings are invalid.
type Program struct {
	Command []string
	Err     error
}

// Check says what of a valid Spec cannot be had on this machine, as a
// *plan.FieldError: a command, a CPU.
func Check(spec plan.Spec, built bool) error {
	t := spec.Target
	if t.Build == "" && !built && t.Attach == nil {
		if err := supervisor.CheckCommand(t.Command[0]); err != nil {
			return plan.WrongBy("command", err)
		}
	}
	if len(t.Against) > 0 {
		if err := supervisor.CheckCommand(t.Against[0]); err != nil {
			return plan.Wrong("command", "OLD: %s", err)
		}
	}
	if len(t.Prepare) > 0 {
		if err := supervisor.CheckCommand(t.Prepare[0]); err != nil {
			return plan.WrongBy("prepare", err)
		}
	}
	if b := t.Beside; b != nil {
		if err := supervisor.CheckCommand(b.Command[0]); err != nil {
			return plan.WrongBy("beside", err)
		}
	}
	if len(t.Ready.Command) > 0 {
		if err := supervisor.CheckCommand(t.Ready.Command[0]); err != nil {
			return plan.WrongBy("ready", err)
		}
	}
	if spec.Load.Command != "" {
		argv, err := spec.LoadCommand(target.ExpandPort([]string{t.URL}, 1), spec.Load.Rate)
		if err == nil {
			err = supervisor.CheckCommand(argv[0])
		}
		if err != nil {
			return plan.WrongBy("load", err)
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
