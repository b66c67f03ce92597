//go:build cgo
// +build cgo

package main

/*
#include <math.h>
#include <signal.h>
static void ignore(void) { signal(SIGTRAP, SIG_IGN); }
#cgo LDFLAGS: -lm
static double work(int n) { double a = 1; for (int i = 0; i < n; i++) a = sqrt(a + i); return a; }
*/
import "C"

import "sync/atomic"

var wantC = C.work(1000)

func init() {
	ignoreTraps = func() { C.ignore() }
	also = func() {
		if C.work(1000) != wantC {
			atomic.AddInt64(&wrong, 1)
		}
	}
}
