package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/kube/image"
)

// mostProgram is more than any build of procfit, in bytes.
const mostProgram = 1 << 30

// imageOptions are the flags of procfit image.
type imageOptions struct {
	out, name, binary string
}

func newImage(std stdio) *cobra.Command {
	o := imageOptions{out: "procfit.tar", name: defaultImage()}
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Write a container image of procfit itself, for clusters",
		Long: `Write an OCI image archive that holds procfit and nothing else, without Docker. The
same procfit and name give the same bytes.

Push it to a registry that your nodes can pull from, or import it into them; then
name it with sweep --kube --image. Other platforms take their own procfit: name it
with --binary.`,
		Example: `  procfit image --out procfit.tar --name registry.example/tools/procfit:v1`,
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(std) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.out, "out", o.out, "`file` to write")
	f.StringVar(&o.name, "name", o.name, "`reference` of the image, with a tag")
	f.StringVar(&o.binary, "binary", "", "procfit's `program` for another platform (default this one)")
	return cmd
}

// defaultImage is a name that no registry serves, so that what is imported is used.
func defaultImage() string {
	tag := strings.Map(func(r rune) rune {
		if r == '+' { // in versions of Go modules, and not in tags
			return '-'
		}
		return r
	}, version())
	return "localhost/procfit:" + tag
}

func (o *imageOptions) run(std stdio) error {
	path := o.binary
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		path = self
	}
	program, err := folder.ReadRegular(path, mostProgram)
	if err != nil {
		return usageError("--binary: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(o.out), ".procfit-image-")
	if err != nil {
		return fmt.Errorf("--out %q: %w", o.out, err)
	}
	defer os.Remove(f.Name()) // it has another name by then, unless something failed
	made, err := image.Image{Name: o.name, Program: program, Path: "/procfit", Version: version()}.Write(f)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("%s cannot be made an image: %w", path, err)
	}
	if err := os.Rename(f.Name(), o.out); err != nil {
		return fmt.Errorf("--out %q: %w", o.out, err)
	}
	_, err = fmt.Fprintf(std.out, `%s: %s for %s, %s
Push it to a registry:     crane push %[1]s %[2]s
or import it into a node:  ctr -n k8s.io images import %[1]s
or into a test cluster:    kind load image-archive %[1]s
`, o.out, made.Name, made.Platform, made.Digest)
	return err
}
