// An argument of a function of this package, by what that does with it.
package ownargument

import "runtime"

func run() {
	split([]int{1}, runtime.NumCPU()) // want PF029 info: the goroutines of a loop are counted
	show(runtime.NumCPU())
}

func split(all []int, n int) {
	for i := 0; i < n; i++ {
		go func() { _ = all }()
	}
}

func show(n int) { println(n) }
