package run

import (
	"context"
	"errors"
	"fmt"
	goversion "go/version"
	"os"
	"path/filepath"

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
func (c *compilers) build(ctx context.Context, e lab.Experiment, asked, language string) (local.Program, string, error) {
	return c.make(ctx, e, compiled{version: asked, language: language})
}

func (c *compilers) make(ctx context.Context, e lab.Experiment, key compiled) (local.Program, string, error) {
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

// folder makes the temporary folder of all that is compiled.
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
