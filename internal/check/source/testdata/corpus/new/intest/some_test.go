package intest

import (
	"runtime"
	"testing"
)

func TestSome(t *testing.T) {}

func init() { runtime.GOMAXPROCS(2) }
