// A function of one's own with that name.
package main

func GOMAXPROCS(int) {}

func NumCPU() int { return 4 }

func main() { GOMAXPROCS(NumCPU()) }
