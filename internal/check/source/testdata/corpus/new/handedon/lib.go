// A default that a setting may replace sizes what the setting sizes.
package handedon

import (
	"math/bits"
	"os"
	"runtime"
	"strconv"
)

var maxActiveHashers = fromEnv("HASHERS", runtime.NumCPU()) // want PF029 info: maxActiveHashers is sized

var parallelDepth = min(bits.Len(uint(runtime.NumCPU())), 8) // want PF029 info: parallelDepth is sized

var bits32 = bits.Len(uint(runtime.NumCPU()))

func fromEnv(name string, other int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return other
}

func tasks() {
	nbTasks := runtime.NumCPU() // want PF029 info: nbTasks is sized
	println(nbTasks, maxActiveHashers, parallelDepth, bits32)
}
