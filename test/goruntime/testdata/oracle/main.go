// Command oracle answers with the runtime's own code: for each line of JSON, the
// files of a machine of 1000 CPUs, the number of Ps that the runtime takes. One
// below 1 it dies of.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"oracle/cgroup"
	"oracle/linux"
)

const cpus = 1000

func ceil(f float64) float64 { return math.Ceil(f) }

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	scratch := make([]byte, cgroup.ScratchSize)
	for in.More() {
		var files map[string][]byte
		if err := in.Decode(&files); err != nil {
			panic(err)
		}
		texts := map[string]string{}
		for name, b := range files {
			texts[name] = string(b)
		}
		linux.Boot(texts)
		clear(scratch)
		procs := int32(cpus)
		if c, err := cgroup.OpenCPU(scratch); err == nil {
			procs = adjustCgroupGOMAXPROCS(procs, c)
		}
		fmt.Fprintln(out, procs)
	}
}
