//go:debug default=go1.24

// All that is newer is off: want@1 PF033 warning: switches off other changes
package main

func main() {}
