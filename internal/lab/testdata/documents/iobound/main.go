// Package main has the imports of document 001's I/O-bound benchmark, and uses what
// that uses of them.
package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

var (
	_ = fmt.Sprintf
	_ = io.ReadAll
	_ = http.Get
	_ = runtime.GOMAXPROCS
	_ sync.WaitGroup
	_ testing.B
)

func main() {}
