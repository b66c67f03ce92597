package kube

import (
	"context"
	"fmt"
	"sync"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// abreast measures on several nodes at once: each lane is a runner of its own, with a
// load's pod of its own, and all are one run with one record.
type abreast struct {
	lanes []*runner

	mu   sync.Mutex
	told map[string]bool // of what one word is enough for all
}

// Prepare implements plan.Runner.
func (a *abreast) Prepare(ctx context.Context, wanted journal.Plan, observe plan.Observer) error {
	first := a.lanes[0]
	if err := first.Prepare(ctx, wanted, observe); err != nil {
		return err
	}
	for _, lane := range a.lanes[1:] {
		lane.cut.owner = first.cut.owner
		if !lane.loaded() {
			continue
		}
		if err := lane.ensureLoad(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Run implements plan.Runner.
func (a *abreast) Run(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	return a.lanes[task.Lane].Run(ctx, task, func(what plan.Activity) {
		if !a.again(what) {
			observe.Tell(what)
		}
	})
}

// again tells what another lane has said already.
func (a *abreast) again(what plan.Activity) bool {
	if what.Shortfall == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := fmt.Sprint(*what.Shortfall)
	was := a.told[key]
	a.told[key] = true
	return was
}

// Close implements plan.Runner.
func (a *abreast) Close() error {
	for _, lane := range a.lanes[1:] {
		lane.hangUp()
	}
	return a.lanes[0].Close()
}

// began is the image that the run began with, which all of its targets are to have.
type began struct {
	mu    sync.Mutex
	image string
}

// same tells whether a target's image is that; the first is.
func (b *began) same(image string) (as string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.image == "" {
		b.image = image
	}
	return b.image, digestOf(b.image) == digestOf(image)
}
