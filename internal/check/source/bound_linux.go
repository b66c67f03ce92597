//go:build !portable

package source

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// boundMemory bounds what this process, and each that it starts, may write to: reserved address
// space does not count. If memory is short, the kernel ends this process first. One with the race
// detector has more already, and is not bounded.
func boundMemory(most int64) error {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var size, resident, shared, text, lib, data int64 // in pages (proc(5))
	if _, err := fmt.Sscan(string(b), &size, &resident, &shared, &text, &lib, &data); err != nil {
		return err
	}
	if data*int64(os.Getpagesize()) > most {
		return nil
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)})
}
