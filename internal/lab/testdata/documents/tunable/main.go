// Package main has the imports of document 001's tunable application, but for
// automaxprocs, and uses what that uses of them.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

var (
	_ = flag.Int
	_ = fmt.Printf
	_ = runtime.GOMAXPROCS
	_ sync.WaitGroup
	_ = time.Now
)

func main() {}
