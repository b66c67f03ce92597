package cli

import (
	"context"
	"errors"
	"fmt"
	goversion "go/version"
	"os"
	"path/filepath"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/local"
	"github.com/procfit/procfit/internal/supervisor"
	"github.com/procfit/procfit/internal/toolchain"
)

// builder compiles practice programs with the toolchains that are asked for, each
// once.
type builder struct {
	tell   func(string)
	keeper *supervisor.Keeper // nil: nothing was compiled
	dir    string             // temporary, the keeper's
	chains map[string]fetched
	built  map[[3]string]local.Program // by id, version and language
}

// fetched is a toolchain, or why it cannot be had.
type fetched struct {
	toolchain.Toolchain
	err error
}

func newBuilder(tell func(string)) *builder {
	return &builder{tell: tell, chains: map[string]fetched{}, built: map[[3]string]local.Program{}}
}

func (b *builder) close() {
	if b.keeper != nil {
		_ = b.keeper.Close() // removes a temporary directory
	}
}

// build is the program of an experiment as the version compiles it, and that
// version in full. What stands in the way is part of the answer, except the end
// of ctx.
func (b *builder) build(ctx context.Context, e lab.Experiment, asked, language string) (local.Program, string, error) {
	chain, ok := b.chains[asked]
	if !ok {
		b.tell("fetching Go " + asked)
		chain.Toolchain, chain.err = toolchain.Fetch(ctx, asked)
		if ctx.Err() != nil {
			return local.Program{}, "", ctx.Err()
		}
		b.chains[asked] = chain
	}
	key := [3]string{e.ID, asked, language}
	if _, ok := b.built[key]; !ok {
		b.built[key] = b.compile(ctx, e, chain, asked, language)
		if ctx.Err() != nil {
			return local.Program{}, "", ctx.Err()
		}
	}
	return b.built[key], chain.Version, nil
}

func (b *builder) compile(ctx context.Context, e lab.Experiment, chain fetched, asked, language string) local.Program {
	failed := func(err error) local.Program { return local.Program{Err: err} }
	switch {
	case chain.err != nil:
		return failed(chain.err)
	case goversion.Compare(chain.Version, "go"+e.Language) < 0:
		return failed(fmt.Errorf("%s is written for Go %s and later: %s cannot build it", e.ID, e.Language, chain.Version))
	}
	source, err := lab.Source(e.ID)
	if err != nil {
		return failed(err)
	}
	if b.keeper == nil {
		if b.keeper, err = supervisor.NewKeeper(); err != nil {
			return failed(err)
		}
		if b.dir, err = b.keeper.Folder("procfit-lab-"); err != nil {
			return failed(err)
		}
	}
	dir := filepath.Join(b.dir, asked+"-"+language)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return failed(err)
	}
	b.tell("compiling " + e.ID + " with " + chain.Version)
	out := filepath.Join(dir, e.ID)
	return local.Program{Command: []string{out}, Err: chain.Build(ctx, []byte(source), language, out)}
}
