//go:build !linux || portable

package source

import (
	"runtime/metrics"
	"time"
)

// boundMemory ends this process, not the go command, when it has more memory than that: who finds
// types does not look at a context. Like the bound of Linux it is a crash that says "out of
// memory".
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
