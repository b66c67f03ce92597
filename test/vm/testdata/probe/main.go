// Command probe prints its GOMAXPROCS and NumCPU and then sleeps. The test
// builds it with old and new toolchains, as a module of its own.
package main

import (
	"fmt"
	"runtime"
	"time"
)

func main() {
	fmt.Println(runtime.GOMAXPROCS(0), runtime.NumCPU())
	for {
		time.Sleep(time.Hour)
	}
}
