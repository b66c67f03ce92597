package cli

import (
	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/cli/entry"
)

func newRun(std stdio) *cobra.Command {
	var f fieldFlags
	o := entry.New()
	cmd := &cobra.Command{
		Use:   "run [flags] -- command [args…]",
		Short: "Start a program with the recommended GOMAXPROCS",
		Long: `Start a program with the GOMAXPROCS that it should use under its CPU limits and its CPU
affinity: for Go programs that nobody can build again, and for Go before 1.21, which the
library maxprocs does not support. As the entry point of a container:

  ENTRYPOINT ["procfit", "run", "--", "/app/server"]

procfit becomes the program: process ID, signals, terminal and exit code are the
program's. If it cannot be started, the exit code is 3. (On Windows procfit stays as its
parent, passes Ctrl-C on and ends with its exit code.)

A GOMAXPROCS in the environment stays, unless --force is given. procfit sets nothing if
the program's runtime chooses the same value, so that Go 1.25 and later keep following
their limit. If nothing is known of the CPUs, procfit prints a notice and starts the
program without a value.` + alsoAsProgram,
		Example: `  procfit run -- ./server -addr :8080
  procfit run --verbose --reserve 0.5 -- ./server
  procfit run --dry-run -- ./server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(cmd.CommandPath(), args, &f.Given); err != nil {
				return asUsage(err)
			}
			code, err := o.Run(args, std.out, std.notef)
			if err == nil && code != 0 {
				return &exitError{code: code}
			}
			return err
		},
	}
	f.bind(std, cmd, o.Fields())
	cmd.Flags().SetInterspersed(false) // the command's flags are its own, also without --
	return cmd
}

// alsoAsProgram is what the help of the program procfit-run leaves out.
const alsoAsProgram = `

procfit-run is a program of 3 MB that does only this, with the same flags.`
