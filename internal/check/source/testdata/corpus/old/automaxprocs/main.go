// An old go line needs it.
package main

import _ "go.uber.org/automaxprocs"

func main() {}
