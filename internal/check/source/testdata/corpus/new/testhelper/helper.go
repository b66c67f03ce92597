// What takes a *testing.T is for tests, also where the file is none.
package testhelper

import (
	"runtime"
	"testing"
)

func OneP(t *testing.T) { defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) }

func Bench(b testing.TB) { runtime.GOMAXPROCS(2) }
