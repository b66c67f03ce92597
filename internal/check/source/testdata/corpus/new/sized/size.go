// Package sized asks the value in force, when it is needed.
package sized

import "runtime"

type Pool struct{ workers int }

func New() *Pool { return &Pool{workers: runtime.GOMAXPROCS(0)} }
