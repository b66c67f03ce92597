//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
//go:debug panicnil=1

// Settings that are linked in: want@1 PF033 warning: keeps the program from its CPU limit and want@2 PF033 info: at the limit that it was started with
package main

func main() {}
