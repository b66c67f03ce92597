//go:debug containermaxprocs=0

// What would be so anyway is not told.
package main

func main() {}
