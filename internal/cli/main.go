// Package cli is procfit's command line: one file a subcommand, each turning
// flags into a struct and calling run(ctx, std). It alone may import every other package.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/program/steer"
)

// Main runs procfit with the arguments after its name and returns the exit code.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	for _, stage := range []func([]string) (int, bool){supervisor.Stage, steer.Stage, gosource.Stage} {
		if code, ok := stage(append([]string{"procfit"}, args...)); ok {
			return code
		}
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is by nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	defer stop()
	std := newStdio(ctx, stdin, stdout, stderr, args)
	return std.untilForced(std.run)
}

func (s stdio) run() int {
	root := newRoot(s)
	root.SetArgs(s.args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(s.ctx)
	if err == nil {
		return 0
	}
	code := exitFailure
	if coded, ok := errors.AsType[*exitError](err); ok {
		if code = coded.code; coded.err == nil { // another program's, which has printed why
			return code
		}
	} else if errors.Is(err, context.Canceled) {
		code, err = exitInterrupted, interruption(err)
	}
	s.notef("%v", err)
	return code
}

// untilForced is the exit code of run. If a first Ctrl-C does not end that in a second, another one
// does not wait for it: until then it may be the first, which a parent passes on. The
// supervisors of what procfit has started, which there are on Linux alone, then end all of that.
func (s stdio) untilForced(run func() int) int {
	interrupts, ended := make(chan os.Signal, 1), make(chan int, 1)
	if runtime.GOOS == "linux" {
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
	}
	go func() { ended <- run() }()
	select {
	case code := <-ended:
		return code
	case <-interrupts:
	}
	select {
	case code := <-ended:
		return code
	case <-time.After(time.Second):
	}
	select {
	case <-interrupts: // passed on
	default:
	}
	if !s.quiet.Load() {
		pods := ""
		if s.pods.Load() {
			pods = "; pods then stay"
		}
		s.notef("ending; press Ctrl-C again to end at once, without a report%s", pods)
	}
	select {
	case code := <-ended:
		return code
	case <-interrupts:
		return exitInterrupted
	}
}

type subcommand struct {
	name string
	make func(stdio) *cobra.Command
}

func subcommands() []subcommand {
	return []subcommand{
		{"ps", newPS}, {"check", newCheck}, {"explain", newExplain}, {"sweep", newSweep}, {"compare", newCompare}, {"live", newLiveCommand}, {"run", newRun}, {"set", newSet}, {"exporter", newExporter},
		{"load", newLoad}, {"trace", newTrace}, {"report", newReport}, {"fleet", newFleet}, {"kube", newKube}, {"migrate", newMigrate}, {"resize", newResize}, {"lab", newLab}, {"completion", newCompletion}, {"version", newVersion},
	}
}

// newRoot has all commands, or the one that is asked for alone: to make all takes longer than
// to look at ten processes.
func newRoot(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "procfit",
		Short: "Show, judge and measure the GOMAXPROCS of Go programs",
		Long: `procfit shows which GOMAXPROCS a Go program runs with, reports whether that is a good
value, and measures which value is best.

GOMAXPROCS limits how many threads run Go code at the same time. The default is the
number of CPUs and, since Go 1.25, the CPU limit of the container.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		Args:             cobra.ArbitraryArgs,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { outlive(cmd) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && "--"+unknown.GetSpecifiedName() == allFlags {
			return pflag.ErrHelp
		}
		own := len(strings.Fields(cmd.CommandPath())) - 1
		if cmd.HasSubCommands() && own < len(std.args) && !strings.HasPrefix(std.args[own], "-") { // the flag is of a command that is not known
			return unknownCommand(cmd, std.args[own])
		}
		return flagError(cmd, err)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { // of what has no flags of its own
		text := firstScreen
		if cmd != root {
			text = std.described(cmd) + cmd.UsageString()
		}
		fmt.Fprint(cmd.OutOrStdout(), text)
	})
	root.CompletionOptions.DisableDefaultCmd = true
	help := newHelp(std)
	root.SetHelpCommand(help)
	asked := func(c subcommand) bool { return len(std.args) > 0 && c.name == std.args[0] }
	alone := slices.ContainsFunc(subcommands(), asked)
	for _, c := range subcommands() {
		if !alone || asked(c) {
			root.AddCommand(c.make(std))
		}
	}
	root.AddCommand(help, newAgent(std))
	cobra.EnableCommandSorting = false
	if len(std.args) > 0 && strings.HasPrefix(std.args[0], cobra.ShellCompRequestCmd) { // cobra keeps such functions for good
		completeWords(root)
	}
	return root
}

// outliving are the commands that put something back or keep something at their end, or that give a program time to end.
var outliving = []string{"sweep", "compare", "live", "set", "resize", "trace", "fleet", "kube sweep", "kube canary", "kube live", "lab run"}

// outlive has such a command continue when nobody reads its output, as after Ctrl-C with | tee: SIGPIPE would
// end it before it removes its pods. The signal is caught and not ignored, which the programs that it measures
// would inherit.
func outlive(cmd *cobra.Command) {
	plans := cmd.Flag("dry-run")
	if slices.Contains(outliving, strings.TrimPrefix(cmd.CommandPath(), "procfit ")) && (plans == nil || plans.Value.String() != "true") {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
}

// ProgramArgs are the arguments of procfit from those of its process: as kubectl-procfit, a plugin
// of kubectl, the commands of procfit kube come first.
func ProgramArgs(process []string) []string {
	if len(process) == 0 {
		return nil
	}
	name, args := strings.TrimSuffix(filepath.Base(process[0]), ".exe"), process[1:]
	if name != "kubectl-procfit" && name != "kubectl_complete-procfit" {
		return args
	}
	kube := []string{"kube"}
	if name == "kubectl_complete-procfit" {
		kube = []string{cobra.ShellCompRequestCmd, "kube"}
	}
	return append(kube, args...)
}

// Manual is the commands with all that is known of them, as man pages have it: in Markdown. Its
// date is that of the commit, so that the same commit makes the same pages; zero: it is not known.
func Manual() (root *cobra.Command, date time.Time) {
	root = newRoot(stdio{})
	date, _ = time.Parse(time.RFC3339, thisBuild().Time)
	for _, cmd := range append(everyCommand(root), root) {
		var parts []string
		for _, p := range passages(cmp.Or(cmd.Long, cmd.Short)) {
			if p.fixed {
				p.text = "```\n" + p.text + "\n```"
			}
			parts = append(parts, p.text)
		}
		cmd.Long = strings.Join(parts, "\n\n")
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if of, ok := f.Value.(*asFlag); ok {
				f.DefValue = cmp.Or(of.Holds, "false")
				f.Usage = literal.Replace(of.Help + shownDefault(of.Field) + "." + details(of.Field, cmd))
			}
		})
	}
	return root, date
}

// group gives a command others below it, and nothing else to do than to list them.
func group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(below...)
	return cmd
}

func newKube(std stdio) *cobra.Command {
	return group(&cobra.Command{
		Use:   "kube",
		Short: "Measure, check and compare in a Kubernetes cluster",
		Long: `Measure copies of pods in a Kubernetes cluster, try values under real traffic, and check
what runs. The same commands work as kubectl procfit, when the binary is called
kubectl-procfit.`,
	}, newKubeSweep(std), newKubeCanary(std), newKubeLive(std), newKubeCheck(std), newKubeClean(std), newKubeImage(std))
}

func newLab(std stdio) *cobra.Command {
	return group(&cobra.Command{Use: "lab", Short: "Run the experiments of five published articles on GOMAXPROCS"},
		newLabList(std), newLabRun(std), newLabReport(std), newLabSource(std), newLabServe(std), newLabProgram(std))
}
