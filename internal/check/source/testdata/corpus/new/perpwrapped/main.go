// A pool with a shard for each P, whose number a function gives.
package main

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

//go:linkname runtime_procPin runtime.procPin
func runtime_procPin() int

//go:linkname runtime_procUnpin runtime.procUnpin
func runtime_procUnpin()

type shard struct{ items []any }

var shards []shard

func current() int {
	id := runtime_procPin()
	runtime_procUnpin()
	return id
}

func get() *shard {
	return &shards[current()] // want PF036 warning: shards has the length that runtime.GOMAXPROCS(0) gave
}

func main() {
	n := runtime.GOMAXPROCS(0)
	shards = make([]shard, n)
	get()
}
