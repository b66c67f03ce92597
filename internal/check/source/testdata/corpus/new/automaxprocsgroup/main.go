// In a group, with a comment of its own.
package main

import (
	"fmt"

	// follow the limit
	_ "go.uber.org/automaxprocs" // want PF031
)

func main() { fmt.Println("hello") }
