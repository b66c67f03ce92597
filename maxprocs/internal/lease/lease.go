// Package lease decides who may change GOMAXPROCS in this process: package maxprocs, or
// for a time an experiment of package live.
package lease

import "sync"

var (
	mu    sync.Mutex
	taken bool
)

// Take reserves GOMAXPROCS for the one experiment that there can be.
func Take() {
	mu.Lock()
	defer mu.Unlock()
	taken = true
}

// Return ends what Take began.
func Return() {
	mu.Lock()
	defer mu.Unlock()
	taken = false
}

// Unless calls change, unless GOMAXPROCS is reserved. Nobody can reserve it during the call.
func Unless(change func()) {
	mu.Lock()
	defer mu.Unlock()
	if !taken {
		change()
	}
}
