// Package main has the imports of document 001's benchmark of scheduling overhead,
// and uses what that uses of them.
package main

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

var (
	_ = fmt.Printf
	_ sync.WaitGroup
	_ testing.B
)

func main() {}
