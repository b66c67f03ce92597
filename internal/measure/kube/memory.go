package kube

import (
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// addMemory adds the memory of all targets, and what their garbage collectors did, where
// that is known of each.
func addMemory(u *journal.Usage, list []agent.Counted) {
	memory, gc := &journal.Memory{}, &journal.GC{}
	for _, one := range list {
		if memory != nil && one.Memory != nil {
			memory.Add(*one.Memory)
		} else {
			memory = nil
		}
		if gc != nil && one.GC != nil {
			gc.Add(*one.GC)
		} else {
			gc = nil
		}
	}
	if len(list) > 0 {
		u.Memory, u.GC = memory, gc
	}
}
