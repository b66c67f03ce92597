//go:build !linux || portable

package supervisor

import "context"

// Stage is for Linux; elsewhere no process is ever started as one.
func Stage(args []string) (code int, ok bool) { return 0, false }

func startKeeper() (*line, error) { return nil, nil }

// runSpec runs the command without a supervisor, as Start does.
func runSpec(ctx context.Context, spec Spec, started func()) (Exit, error) {
	p, err := Start(ctx, spec)
	if err != nil {
		return Exit{}, err
	}
	started()
	exit, err := p.Wait()
	if ctx.Err() != nil {
		return Exit{}, ctx.Err()
	}
	return exit, err
}
