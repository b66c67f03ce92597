//go:build go1.25

package main

import "runtime"

func init() { setDefault = runtime.SetDefaultGOMAXPROCS }
