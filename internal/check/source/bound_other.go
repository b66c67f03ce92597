//go:build !linux || portable

package source

import (
	"runtime/metrics"
	"time"
)

// boundMemory ends this process when it has more memory than that, whatever runs in it: a package
// whose types are being found does not look at a context. Like the bound of Linux it is a crash that
// says "out of memory", and the procfit that started the process ends what that has started. It
// looks every 20 ms, and what is bounded is this process: not the go command.
func boundMemory(most int64) error {
	now := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			if metrics.Read(now); now[0].Value.Uint64()-now[1].Value.Uint64() > uint64(most) {
				panic("out of memory")
			}
		}
	}()
	return nil
}
