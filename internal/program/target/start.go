package target

import (
	"context"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// Process is a started target.
type Process struct{ *supervisor.Process }

// Start starts the target and returns once it runs. When ctx is done it is killed
// at once, with all its descendants.
func Start(ctx context.Context, spec supervisor.Spec) (*Process, error) {
	p, err := supervisor.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &Process{p}, nil
}
