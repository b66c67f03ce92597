// Package pool keeps what can be used again.
package pool

type Generic struct{ kept chan any }

func New(most int) *Generic { return &Generic{kept: make(chan any, most)} }
