package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/results"
)

type kubeLive struct {
	*liveOptions
	options kube.Options
	passed  []string // the flags that procfit live in the pod gets
}

func newKubeLive(std stdio) *cobra.Command {
	o := newKubeLiveOptions()
	return o.bind(std, &cobra.Command{
		Use:   "live [flags] OBJECT",
		Short: "Try values in one running pod, under its own traffic",
		Long: `Try GOMAXPROCS values in the Go program of one pod that runs, under the traffic that it
has, as procfit live does. The first pod of the object that is ready is used, and the
program that listens at the first port that its container declares.

procfit runs in an ephemeral container of that pod, as root with SYS_PTRACE, which cannot be
removed: it ends with the experiment, and stays in the pod's description until the pod
goes. Before it is added, the API server tries it, and procfit prints what the cluster
refuses, and asks. The program gets its value back at the end, at Ctrl-C, and within a
minute if procfit is killed or cannot reach the cluster.`,
		Example: `  procfit kube live deployment/api --namespace shop --image registry.example/tools/procfit:v1 --procs 1,2
  procfit kube live pod/api-0 --image registry.example/tools/procfit:v1 --procs 1,2 --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}, o.Fields)
}

func newKubeLiveOptions() *kubeLive {
	o := &kubeLive{liveOptions: newTrying("kube live")}
	of := &o.options
	tries := o.trying()
	o.passed = phrase.Each(tries, func(f field.Field) string { return f.Name })
	o.Fields = slices.Concat(tries, access(&of.Access, ""), field.In(field.Kube,
		field.Field{Name: "image", Holds: "IMAGE", Often: true, Help: "image of procfit; procfit kube image creates one", Value: field.Text(&of.Image)},
		field.Field{Name: "container", Holds: "NAME", Help: "the container whose program tries the values (default as kubectl's)", Value: field.Text(&of.Container)},
	), o.ofBlocks("live"), field.In(field.Output, toggle("yes", &o.yes, "do not ask")))
	return o
}

func (o *kubeLive) run(ctx context.Context, std stdio, args []string) (err error) {
	if o.options.Object, err = objectOf(std, o.name, args); err != nil {
		return err
	}
	o.operands = args
	if err := o.check(); err != nil {
		return err
	}
	var h judge.Header
	switch {
	case !o.tries():
		return usageError("kube live needs --procs, the values to try: --procs 1,2")
	case secret.Text(o.metrics) != o.metrics || spec.Variables(o.metrics) != nil:
		return usageError("--metrics: kube live gives no credentials to a pod, where others would read them: name a page that needs none")
	case o.options.Image == "":
		return usageError("kube live needs --image, a procfit that the pod's node can run: procfit kube image creates one")
	}
	if err := o.liveHeader(std, &h); err != nil {
		return err
	}
	h.Name = cmp.Or(o.spec.Name, o.options.Object)
	dir, err := o.blocksDir(h.Name, "live", h.Started)
	if err != nil {
		return err
	}
	named := o.options
	if err := std.fill(&named.Namespace, &named.Context, &named.Container, &named.Image); err != nil {
		return err
	}
	l, err := kube.InspectLive(ctx, named)
	if err != nil {
		return refusal(err)
	}
	shown := o.printed.before(std, !o.yes && !o.dryRun)
	where := "the first process of container " + l.Container
	if l.Port != 0 {
		where = fmt.Sprintf("what listens at port %d, of container %s", l.Port, l.Container)
	}
	shown.notef("pod %s on node %s: values are tried in %s, for at most %s", l.Pod, l.Node, where, number.Minutes(o.spec.Load.Duration))
	shown.notef("an ephemeral container of %s is added to the pod, as root with SYS_PTRACE; it ends with the experiment, and cannot be removed before the pod is", o.options.Image)
	if o.dryRun {
		return std.write(l.Manifest())
	}
	what := fmt.Sprintf("the Go program in pod %s: procfit changes its GOMAXPROCS again and again: each time %s, and so would the end of procfit's container", l.Pod, heldByCall)
	if err := agreed(ctx, shown, o.yes, h.Spec.Shell(), what); err != nil {
		return err
	}
	return o.measure(ctx, o.printed.std(std), l, h, dir)
}

func (o *kubeLive) measure(ctx context.Context, std stdio, l *kube.Live, h judge.Header, dir string) error {
	asked := h.Spec.Only(func(name string) bool { return slices.Contains(o.passed, name) })
	asked.Command, asked.Operands = "", []string{"1"}
	if l.Port != 0 {
		asked.Operands = []string{":" + strconv.Itoa(l.Port)}
	}
	said := ""
	tried, err := l.Try(ctx, asked.Args(), func(line string) {
		said = strings.TrimPrefix(line, "procfit: ")
		std.notef("%s", phrase.Clean(said))
	})
	switch {
	case err != nil:
		return errors.Join(err, ctx.Err())
	case tried.Journal == nil: // it ended in the baseline, and the last line said why
		return &exitError{tried.Code, fmt.Errorf("the experiment in pod %s ended before its first block: %s", l.Pod, said)}
	}
	outcome, err := results.Keep(dir, tried.Journal, h, std.secrets.Quoted)
	if err != nil {
		return err
	}
	return errors.Join(sweepReport(std, dir, o.printed.format(), ""), liveError(outcome))
}
