// Package library sets it for whoever imports it.
package library

import "runtime"

func Start() {
	prev := runtime.GOMAXPROCS(1) // want PF024 info: applies to the whole program
	_ = prev
	go func() {
		runtime.GOMAXPROCS(8) // want PF024 warning
	}()
}
