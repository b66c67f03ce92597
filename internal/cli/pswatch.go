package cli

import "context"

func (o *psOptions) live(ctx context.Context, io stdio, scan scanFunc) error {
	return usageError("not yet")
}
