//go:build cgo

package main

// int one(void) { return 1; }
import "C"

func init() {
	if C.one() != 1 {
		panic("cgo")
	}
}
