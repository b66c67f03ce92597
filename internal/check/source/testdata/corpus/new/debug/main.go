//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
//go:debug panicnil=1

// Settings that are linked in: want@1 PF033 warning: makes the program ignore its CPU limit
package main

func main() {}
