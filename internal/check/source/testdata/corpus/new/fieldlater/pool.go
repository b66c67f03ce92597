// A field that sizes a pool later.
package fieldlater

import "runtime"

type pool struct{ max int }

type page struct{ max int }

func newPool(max int) *pool {
	if max <= 0 {
		max = runtime.NumCPU() * 2 // want PF029 info: max of a pool is set by runtime.NumCPU
	}
	return &pool{max: max}
}

func newPage() *page { return &page{max: runtime.NumCPU()} }
