//go:debug default=go1.24
//go:debug containermaxprocs=1
//go:debug updatemaxprocs=0

// A setting goes before the default of a release: want@3 PF033 info: keep the limit that it started with
package main

func main() {}
