//go:build !portable

package load

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

const hasRaw = true

// checkFiles asks for the descriptors before half of the connections are open.
func checkFiles(connections int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	const others = 64 // what the rest of the process may hold
	if need := uint64(connections + others); limit.Cur < need {
		return invalid(FieldConnections, strconv.Itoa(connections), "they need about %d open files, but the limit is %d; raise it with 'ulimit -n %d'", need, limit.Cur, need)
	}
	return nil
}
