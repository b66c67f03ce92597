//go:build !portable

package supervisor

import "context"

// runSpec calls started once the command runs.
func runSpec(ctx context.Context, spec Spec, started func()) (Exit, error) {
	p, err := Start(ctx, spec)
	if err != nil {
		if ctx.Err() != nil {
			return Exit{}, ctx.Err()
		}
		return Exit{}, err
	}
	started()
	exit, err := p.Wait()
	if ctx.Err() != nil {
		return Exit{}, ctx.Err()
	}
	return exit, err
}
