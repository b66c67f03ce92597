// Package maxprocs stands for the real one.
package maxprocs

type Option func()

func Set(...Option) (undo func(), err error) { return func() {}, nil }
