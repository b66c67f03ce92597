//go:build unix && !portable

package start

import (
	"fmt"
	"os/signal"
	"syscall"
)

// Run becomes the program. It returns only with an error.
func Run(path string, args, env []string) (code int, err error) {
	// A handler would be reset to the default, also where nohup had the signal
	// ignored; without ours the runtime puts back what it found.
	signal.Reset()
	return 0, fmt.Errorf("start %q: %w", path, syscall.Exec(path, args, env))
}
