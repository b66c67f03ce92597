package local

import (
	"fmt"
	"os"
	"runtime"

	"github.com/procfit/procfit/internal/supervisor"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/internal/target"
)

// Config is what a sweep takes on this machine besides its Spec.
type Config struct {
	Environ []string // the target's environment; GOMAXPROCS in it is replaced
	// CreateLog makes the file for a target's output and says what it is called in the
	// results folder.
	CreateLog func(name string) (f *os.File, path string, err error)
	// Programs are ready to be run, by the arm's Go version, instead of the Spec's
	// command, which then only names them. They may be filled in until Prepare.
	Programs map[string]Program
}

// Program is a command to run as it is, or why it cannot be had: then the trials of
// its arms are invalid.
type Program struct {
	Command []string
	Err     error
}

// Check says what of a valid Spec cannot be had on this machine, as a
// *sweep.FieldError: a command, a CPU.
func Check(spec sweep.Spec, built bool) error {
	t := spec.Target
	if t.Build == "" && !built && t.Attach == nil {
		if err := supervisor.CheckCommand(t.Command[0]); err != nil {
			return sweep.WrongBy(sweep.FieldCommand, err)
		}
	}
	if len(t.Against) > 0 {
		if err := supervisor.CheckCommand(t.Against[0]); err != nil {
			return sweep.WrongBy(sweep.FieldAgainst, err)
		}
	}
	if len(t.Prepare) > 0 {
		if err := supervisor.CheckCommand(t.Prepare[0]); err != nil {
			return sweep.WrongBy(sweep.FieldPrepare, err)
		}
	}
	if b := t.Beside; b != nil {
		if err := supervisor.CheckCommand(b.Command[0]); err != nil {
			return sweep.WrongBy(sweep.FieldBeside, err)
		}
	}
	if len(t.Ready.Command) > 0 {
		if err := supervisor.CheckCommand(t.Ready.Command[0]); err != nil {
			return sweep.WrongBy(sweep.FieldReady, err)
		}
	}
	if spec.Load.Command != "" {
		argv, err := spec.LoadCommand(target.ExpandPort([]string{t.URL}, 1), spec.Load.Rate)
		if err == nil {
			err = supervisor.CheckCommand(argv[0])
		}
		if err != nil {
			return sweep.WrongBy(sweep.FieldLoad, err)
		}
	}
	if err := checkCPUs(sweep.FieldTargetCPUs, t.CPUs); err != nil {
		return err
	}
	return checkCPUs(sweep.FieldLoadCPUs, spec.Load.CPUs)
}

func checkCPUs(f sweep.Field, cpus []int) error {
	for _, n := range cpus {
		if _, err := os.Stat(fmt.Sprintf("/sys/devices/system/cpu/cpu%d", n)); runtime.GOOS == "linux" && err != nil {
			return sweep.Wrong(f, " \"%d\": this machine has no CPU %d", n, n)
		}
	}
	return nil
}
