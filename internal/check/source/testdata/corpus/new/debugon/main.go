//go:debug containermaxprocs=1
//go:debug default=go1.25

// What is on, or says nothing of it.
package main

func main() {}
