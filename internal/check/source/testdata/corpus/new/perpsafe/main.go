// What is bounded is not reported.
package main

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

//go:linkname procPin runtime.procPin
func procPin() int

type stripes struct {
	all  []int64
	mask int
}

func newStripes() *stripes {
	return &stripes{all: make([]int64, runtime.GOMAXPROCS(0))}
}

func (s *stripes) modulo() *int64 { return &s.all[procPin()%len(s.all)] }

func (s *stripes) masked() *int64 { return &s.all[procPin()&s.mask] }

func (s *stripes) compared() *int64 {
	p := procPin()
	if p >= len(s.all) {
		return nil
	}
	return &s.all[p]
}

func (s *stripes) counted() (sum int64) {
	for i := range s.all {
		sum += s.all[i]
	}
	return sum
}

func (s *stripes) copied() {
	given := make([]int64, len(s.all))
	_ = given[procPin()] // how long it is, is not known
}

func main() { newStripes().modulo() }
