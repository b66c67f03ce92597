// Another thing of the same name.
package main

type fake struct{}

func (fake) GOMAXPROCS(int) int { return 0 }

func main() {
	runtime := fake{}
	runtime.GOMAXPROCS(4)
}
