// Package mentioned speaks of runtime.GOMAXPROCS(4) and sets nothing:
//
//	procfit:ignore PF024 an example
//	runtime.GOMAXPROCS(runtime.NumCPU())
package mentioned

import "os"

var Text = "runtime.GOMAXPROCS(4) // procfit:ignore PF024 in a string" + os.Args[0]
