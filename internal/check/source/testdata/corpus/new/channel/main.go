// The capacity of a channel.
package main

import "runtime"

func main() {
	_ = make(chan int, runtime.NumCPU()) // want PF029 info: a channel is sized by runtime.NumCPU
	_ = make(chan int, runtime.GOMAXPROCS(0))
	_ = make([]int, 2*runtime.NumCPU()) // want PF029 info: a slice is sized
	_ = make(map[int]int, runtime.NumCPU())
}
