// Command extras makes what a release has in addition to the program: man pages,
// completions, the unit of the packages, and the licences of everything in the program.
// goreleaser runs it before it builds (.goreleaser.yaml).
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	out := flag.String("out", "", "folder to write, which is emptied first")
	version := flag.String("version", "", "version that the program must have")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: extras -out DIR [-version v1.2.3]")
		os.Exit(2)
	}
	if err := extras("../..", *out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "extras:", err)
		os.Exit(1)
	}
}

// extras writes into the folder out what belongs to the repository at root.
func extras(root, out, version string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	completions := filepath.Join(out, "completions")
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	for program, dir := range map[string]string{"procfit": out, "procfit-run": filepath.Join(out, "procfit-run")} {
		if err := licences(root, program, dir); err != nil {
			return err
		}
	}
	if err := unit(root, out); err != nil {
		return err
	}

	// The program of this machine describes itself. It is built from the commit, so that
	// its pages have the commit's version and day.
	program := filepath.Join(out, "procfit")
	flags := []string{"-trimpath", "-buildvcs=true", "-gcflags=k8s.io/...=-l", "-gcflags=sigs.k8s.io/...=-l", "-gcflags=go.yaml.in/...=-l",
		"-gcflags=github.com/bufbuild/...=-l", "-gcflags=github.com/charmbracelet/...=-l", "-gcflags=github.com/google/...=-l", "-gcflags=github.com/moby/...=-l", "-gcflags=github.com/prometheus/...=-l", "-gcflags=github.com/spf13/...=-l",
		"-ldflags=-s -w"}
	if _, err := run(root, "go", slices.Concat([]string{"build"}, flags, []string{"-o", program, "./cmd/procfit"})...); err != nil {
		return err
	}
	if shown, err := run(root, program, "version"); err != nil {
		return err
	} else if first, _, _ := bytes.Cut(shown, []byte("\n")); version != "" && string(first) != "procfit "+version {
		return fmt.Errorf("the program shows %q, not %s: Go reads the version from the tag in a clone without changes, but not in a worktree of git", first, version)
	}
	if _, err := run(root, "go", slices.Concat([]string{"run"}, flags, []string{"./internal/cli/man", filepath.Join(out, "man")})...); err != nil {
		return err
	}
	for shell, file := range map[string]string{"bash": "procfit.bash", "zsh": "_procfit", "fish": "procfit.fish", "powershell": "procfit.ps1"} {
		script, err := run(root, program, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(completions, file), script, 0o644); err != nil {
			return err
		}
	}
	return os.Remove(program)
}

// unit writes the exporter's unit for a package, which installs the program elsewhere than
// a person does by hand.
func unit(root, out string) error {
	const name, byHand, packaged = "procfit-exporter.service", "ExecStart=/usr/local/bin/procfit ", "ExecStart=/usr/bin/procfit "
	text, err := os.ReadFile(filepath.Join(root, "deploy/systemd", name))
	if err != nil {
		return err
	}
	if bytes.Count(text, []byte(byHand)) != 1 {
		return fmt.Errorf("deploy/systemd/%s has no line %q", name, byHand)
	}
	return os.WriteFile(filepath.Join(out, name), bytes.Replace(text, []byte(byHand), []byte(packaged), 1), 0o644)
}

func run(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%v: %w: %s", cmd.Args, err, exit.Stderr)
	}
	return out, err
}
