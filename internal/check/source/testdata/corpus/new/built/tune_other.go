//go:build !plan9

package main

import "runtime"

func tune() {
	runtime.GOMAXPROCS(3) // want PF024
}
