// Command tell prints what a program finds of its GOMAXPROCS, and what its runtime
// made of it.
package main

import (
	"encoding/json"
	"os"
	"runtime"
)

func main() {
	env, set := os.LookupEnv("GOMAXPROCS")
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"env": env, "set": set, "procs": runtime.GOMAXPROCS(0), "cpus": runtime.NumCPU()})
}
