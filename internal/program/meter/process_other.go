//go:build !linux

package meter

import (
	"context"
	"fmt"
)

func ofProcess(_ context.Context, pid int) (*Client, error) {
	return nil, fmt.Errorf("process %d: its control socket can be looked for on Linux only; name the socket", pid)
}

// server is known on Linux only.
func server(context.Context, string) int { return 0 }
