// Package method has the call where it is no statement of a block.
package method

import "runtime"

type T struct{}

func (T) Tune(how int) {
	switch how {
	case 1:
		runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
	}
	if runtime.GOMAXPROCS(runtime.NumCPU()) > 8 { // want PF025
		println("many")
	}
	go runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
}
