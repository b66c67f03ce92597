package maxprocs

import "syscall"

func lookupEnv() (string, bool) { return syscall.Getenv("GOMAXPROCS") }
