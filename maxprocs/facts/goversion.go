package facts

import (
	"fmt"
	"strconv"
	"strings"
)

// parseGoVersion reads "1.26", "go1.26.8", "go1.27rc1", "go1.26.8 X:nodwarf5"
// or "devel go1.28-…" into the minor release. Everything of Go 1 is 1.x, and no
// rule of a default changed within a minor release.
func parseGoVersion(version string) (minor int, err error) {
	v := version
	for _, field := range strings.Fields(version) {
		if strings.HasPrefix(field, "go1") || strings.HasPrefix(field, "1") {
			v = field
			break
		}
	}
	v = strings.TrimPrefix(v, "go")
	if v == "1" {
		return 0, nil // the first release
	}
	rest, ok := strings.CutPrefix(v, "1.")
	end := 0
	for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
		end++
	}
	minor, err = strconv.Atoi(rest[:end])
	if !ok || err != nil || minor > 1e4 {
		return 0, fmt.Errorf("want a Go version such as 1.26 or go1.26.8, have %q", version)
	}
	return minor, nil
}
