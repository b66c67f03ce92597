//go:build !portable

package trace

import (
	"context"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// start starts the command under a supervisor, which leaves nothing of it behind,
// however procfit ends. The context's end is not its end: it is stopped with a
// grace.
func start(ctx context.Context, spec supervisor.Spec) (process, error) {
	return supervisor.Start(context.WithoutCancel(ctx), spec)
}
