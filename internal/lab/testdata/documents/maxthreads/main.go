// Package main follows document 000, which names SetMaxThreads as the fix for
// threads that block in C or in system calls: sixteen of them do.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

func main() {
	debug.SetMaxThreads(8)
	for range 16 {
		r, _, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		go syscall.Read(int(r.Fd()), make([]byte, 1)) // which nobody ever writes
	}
	time.Sleep(10 * time.Second)
	fmt.Println("still here")
}
