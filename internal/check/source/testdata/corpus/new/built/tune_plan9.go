package main

import "runtime"

func tune() { runtime.GOMAXPROCS(2) }
