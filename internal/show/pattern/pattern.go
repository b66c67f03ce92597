// Package pattern has regular expressions that are compiled when they are first used. At the
// start of procfit all of them would take a millisecond, of which a command needs next to
// nothing.
package pattern

import (
	"regexp"
	"sync"
)

// Of is the expression, which must be valid.
func Of(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
