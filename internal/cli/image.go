package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/kube/image"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/results"
)

type imageOptions struct {
	fieldFlags
	archive, tag, binary string
}

func newKubeImage(std stdio) *cobra.Command {
	o := imageOptions{tag: defaultImage()}
	return o.bind(std, &cobra.Command{
		Use:   "image",
		Short: "Write a container image of procfit itself",
		Long: `Write an OCI image archive that holds procfit and nothing else, without Docker. The
same procfit and tag give the same bytes.

Push it to a registry that your nodes can pull from, or import it into them; then
name it with --image of kube sweep, kube canary, kube live and lab run --kube. A node of
another platform needs a procfit for that platform, which --binary names. The user of the
image is nobody (65534), and its root may be read-only.`,
		Example: `  procfit kube image --archive procfit.tar --tag registry.example/tools/procfit:v1
  procfit kube image --archive procfit.tar --binary procfit-arm64`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(std) },
	}, []field.Field{
		{Name: "archive", Holds: "FILE", Help: "the file to write, such as procfit.tar", Value: field.Text(&o.archive)},
		{Name: "tag", Holds: "REF", Help: "reference of the image: registry.example/tools/procfit:v1", Value: field.Text(&o.tag)},
		{Name: "binary", Holds: "FILE", Help: "procfit for the platform of the nodes (default this procfit)", Value: field.Text(&o.binary)},
	})
}

// defaultImage is a name that no registry serves, so that what is imported is used.
func defaultImage() string {
	return "localhost/procfit:" + strings.ReplaceAll(version(), "+", "-") // a + may be in the version of a Go module, and not in a tag
}

func (o *imageOptions) run(std stdio) error {
	if o.archive == "" {
		return usageError("kube image needs --archive, the file to write: procfit kube image --archive procfit.tar")
	}
	if err := image.CheckName(o.tag); err != nil {
		return usageError("%w", err)
	}
	path := o.binary
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		path = self
	}
	program, err := folder.ReadRegular(path, 1<<30) // bytes, more than any build of procfit has
	if err != nil {
		return usageError("--binary: %w", err)
	}
	i := image.Image{Name: o.tag, Program: program, Path: "/procfit", Version: version()}
	f, err := os.CreateTemp(filepath.Dir(o.archive), ".procfit-image-")
	if err != nil {
		return fmt.Errorf("--archive %q: %w", o.archive, err)
	}
	defer os.Remove(f.Name()) // it has another name by then, unless something failed
	made, err := i.Write(f)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("cannot create an image of %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), o.archive); err != nil {
		return fmt.Errorf("--archive %q: %w", o.archive, err)
	}
	_, err = fmt.Fprintf(std.out, `%s: %s for %s, %s
Push it to a registry:     crane push %s %[2]s
or import it into a node:  ctr -n k8s.io images import %[5]s
or into a test cluster:    kind load image-archive %[5]s
`, phrase.Clean(o.archive), made.Name, made.Platform, made.Digest, phrase.ShellWord(o.archive))
	return err
}

func newAgent(std stdio) *cobra.Command {
	var idle time.Duration
	watch := false
	cmd := &cobra.Command{
		Use:    kube.AgentCommand,
		Short:  "Offer load and look at targets inside a cluster, as a sweep there asks",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch {
				return agent.Watch(cmd.Context(), std.out)
			}
			token := os.Getenv(agent.TokenVariable)
			if token == "" {
				return usageError("%s is not set: the sweep that starts an agent gives it a token there", agent.TokenVariable)
			}
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(agent.Port)))
			if err != nil {
				return err
			}
			wait, err := steer.Adopt()
			if err != nil {
				return err
			}
			defer wait() // a guard that still gives a value back would end with this container
			s := agent.NewServer(token, offer)
			s.Try = tryHere
			return s.Serve(cmd.Context(), l, idle)
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "follow the programs of the pod to their end, and tell what they did")
	cmd.Flags().DurationVar(&idle, "idle", 15*time.Minute, "end when nobody has asked for so long")
	return cmd
}

// tryHere runs procfit live in a process of its own, which is interrupted as by Ctrl-C.
func tryHere(ctx context.Context, args []string, tell func(line string)) (text []byte, code int, err error) {
	dir, err := os.MkdirTemp("/dev/shm", "procfit-") // which is there, and can be written, in any container
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append(append([]string{"live"}, args...), "--out", dir, "--yes")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if code, err = ranTelling(cmd, tell); err != nil {
		return nil, code, err
	}
	text, err = folder.ReadRegular(filepath.Join(dir, results.Journal), 256<<20) // bytes, more than an experiment of a day has
	if errors.Is(err, fs.ErrNotExist) {                                          // it ended in the baseline
		err = nil
	}
	return text, code, err
}

// ranTelling runs a command to its end, and hands on the lines that it prints, however long. It is an
// error that a signal ended it.
func ranTelling(cmd *exec.Cmd, tell func(line string)) (code int, err error) {
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewReader(said); err == nil; {
		var line string
		if line, err = lines.ReadString('\n'); line != "" {
			tell(strings.TrimSuffix(line, "\n"))
		}
	}
	switch err := cmd.Wait(); {
	case cmd.ProcessState == nil:
		return 0, err
	case cmd.ProcessState.ExitCode() < 0:
		return 0, fmt.Errorf("procfit live was ended there by a signal (%s); where the pod's memory limit did it, give the pod more memory",
			strings.TrimPrefix(cmd.ProcessState.String(), "signal: "))
	}
	return cmd.ProcessState.ExitCode(), nil
}

// offer runs a load that came as JSON, in which a call of gRPC is without what makes it.
func offer(ctx context.Context, o load.Options) (*load.Result, error) {
	if o.GRPC != nil {
		o.GRPC.Calls = rpc.Calls{}
	}
	return engine.Run(ctx, o)
}
