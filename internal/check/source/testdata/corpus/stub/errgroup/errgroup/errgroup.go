// Package errgroup stands for the real one.
package errgroup

type Group struct{}

func (*Group) SetLimit(n int) {}

func (*Group) Go(f func() error) {}

func (*Group) Wait() error { return nil }
