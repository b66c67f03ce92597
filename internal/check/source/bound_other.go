//go:build !linux || portable

package source

import (
	"fmt"
	"os"
	"runtime/metrics"
	"time"
)

// boundMemory ends this process, at once and whatever runs in it, when it has more memory than
// that. It is the process that judges source for another procfit, which reports the end.
func boundMemory(most int64) error {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			if metrics.Read(total); total[0].Value.Uint64() > uint64(most) {
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(1)
			}
		}
	}()
	return nil
}
