package run

import (
	"context"
	"errors"
	"fmt"
	goversion "go/version"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/program/toolchain"
)

// compilers compile practice programs with the toolchains that are asked for, each
// once.
type compilers struct {
	on      Events
	environ []string
	keeper  *supervisor.Keeper // nil: nothing was compiled
	dir     string             // temporary, the keeper's
	chains  map[string]fetched // by the version that was asked for
	built   map[compiled]local.Program
}

// fetched is a toolchain, or why it cannot be had.
type fetched struct {
	toolchain.Toolchain
	err error
}

// compiled tells programs apart.
type compiled struct {
	id, version, language string
	how                   lab.Build
}

func (r *Run) compilers(on Events) *compilers {
	return &compilers{on: on, environ: r.options.Environ, chains: map[string]fetched{}, built: map[compiled]local.Program{}}
}

func (c *compilers) close() {
	if c.keeper != nil {
		_ = c.keeper.Close() // removes a temporary directory
	}
}

// build is the program of an experiment as the version compiles it, and that
// version in full. What is in the way is part of the answer, except the end
// of ctx.
func (c *compilers) build(ctx context.Context, e lab.Experiment, key compiled) (local.Program, string, error) {
	chain, err := c.fetch(ctx, key.version)
	if err != nil {
		return local.Program{}, "", err
	}
	key.id = e.ID
	if _, ok := c.built[key]; !ok {
		command, err := c.compile(ctx, e, chain, key)
		if ctx.Err() != nil {
			return local.Program{}, "", ctx.Err()
		}
		c.built[key] = local.Program{Command: command, Err: err}
	}
	return c.built[key], chain.Version, nil
}

func (c *compilers) compile(ctx context.Context, e lab.Experiment, chain fetched, key compiled) ([]string, error) {
	switch {
	case chain.err != nil:
		return nil, chain.err
	case goversion.Compare(chain.Version, "go"+e.Language) < 0:
		return nil, fmt.Errorf("%s is written for Go %s and later: %s cannot build it", e.ID, e.Language, chain.Version)
	}
	source, err := key.how.Of(e.ID)
	if err != nil {
		return nil, err
	}
	if err := c.folder(); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.dir, fmt.Sprintf("%s-%s-%s-%t", key.version, key.language, key.how.Source, key.how.Race))
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	c.on.Compile(e.ID, chain.Version)
	out := filepath.Join(dir, e.ID)
	if key.how != (lab.Build{}) {
		return []string{out}, chain.BuildC(ctx, []byte(source), key.how.Race, out)
	}
	return []string{out}, chain.Build(ctx, []byte(source), key.language, out)
}

func (c *compilers) folder() (err error) {
	if c.dir != "" {
		return nil
	}
	if c.keeper == nil {
		if c.keeper, err = supervisor.NewKeeper(); err != nil {
			return err
		}
	}
	c.dir, err = c.keeper.Folder("procfit-lab-")
	return err
}

// fetch gets a toolchain, each once. What is in the way is kept with it, except the
// end of ctx.
func (c *compilers) fetch(ctx context.Context, asked string) (fetched, error) {
	chain, ok := c.chains[asked]
	if !ok {
		c.on.Fetch(asked)
		chain.Toolchain, chain.err = toolchain.Fetch(ctx, asked)
		if ctx.Err() != nil {
			return chain, ctx.Err()
		}
		c.chains[asked] = chain
	}
	return chain, nil
}

// command is a stage's command of a Go tree: with the tree's place, its go command and
// its environment filled in. Why there is none is part of the answer.
func (c *compilers) command(ctx context.Context, st lab.Stage) (local.Program, error) {
	words, err := c.inTree(ctx, st)
	if ctx.Err() != nil {
		return local.Program{}, ctx.Err()
	}
	return local.Program{Command: words, Err: err}, nil
}

func (c *compilers) inTree(ctx context.Context, st lab.Stage) ([]string, error) {
	chain, err := c.fetch(ctx, st.Tree)
	if err = errors.Join(err, chain.err); err != nil {
		return nil, err
	}
	if err := c.folder(); err != nil {
		return nil, err
	}
	root, own := chain.Root, slices.ContainsFunc(st.Target.Command, func(w string) bool { return strings.Contains(w, lab.TreePlaceholder) })
	if own {
		if root, err = c.copied(chain); err != nil {
			return nil, err
		}
	}
	env := []string{
		"GOROOT=" + root, "GOPATH=" + filepath.Join(c.dir, "gopath"), "GOCACHE=" + filepath.Join(c.dir, "cache-"+chain.Version),
		"GOENV=off", "GOFLAGS=", "GOWORK=off", "GO111MODULE=off", "GOTOOLCHAIN=local", "GOEXPERIMENT=", "CGO_ENABLED=0",
	}
	if st.Bootstrap != "" {
		boot, err := c.fetch(ctx, st.Bootstrap)
		if err = errors.Join(err, boot.err); err != nil {
			return nil, err
		}
		env = append(env, "GOROOT_BOOTSTRAP="+boot.Root)
	}
	words := append([]string{"env"}, env...)
	fill := strings.NewReplacer(lab.TreePlaceholder, root, lab.GoPlaceholder, filepath.Join(root, "bin", "go"))
	for _, w := range st.Target.Command {
		words = append(words, fill.Replace(w))
	}
	if own && st.Bootstrap == "" {
		return words, c.warm(ctx, st.Name, chain.Version, words)
	}
	return words, nil
}

// building is a tree without the parts that no build reads, and without links.
type building struct{ fs.FS }

func (t building) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(t.FS, name)
	return slices.DeleteFunc(list, func(d fs.DirEntry) bool {
		needless := name == "." && slices.Contains([]string{"api", "blog", "doc", "test"}, d.Name())
		return needless || !d.IsDir() && !d.Type().IsRegular()
	}), err
}

// copied is a toolchain's tree in which sources may change, made once.
func (c *compilers) copied(chain fetched) (string, error) {
	dst := filepath.Join(c.dir, "tree-"+chain.Version)
	if _, err := os.Stat(dst); err == nil {
		return dst, nil
	}
	half := dst + "-unfinished"
	if err := errors.Join(os.RemoveAll(half), os.CopyFS(half, building{os.DirFS(chain.Root)})); err != nil {
		return "", fmt.Errorf("copy %s: %w", chain.Root, err)
	}
	return dst, os.Rename(half, dst)
}

// warm runs a command once, so that what all of its runs have in common is built.
func (c *compilers) warm(ctx context.Context, name, version string, words []string) error {
	c.on.Compile("the packages that "+name+" needs", version)
	if _, err := supervised(ctx, supervisor.Spec{Command: words, Env: c.environ}); err != nil {
		return fmt.Errorf("%s: %w", version, err)
	}
	return nil
}
