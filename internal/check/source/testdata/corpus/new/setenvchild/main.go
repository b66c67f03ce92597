// It may be meant for a child.
package main

import (
	"os"
	"os/exec"
)

const name = "GOMAXPROCS"

func main() {
	os.Setenv(name, "4") // want PF026 info: only child processes inherit it
	c := exec.Command("true")
	c.Env = append(os.Environ(), "GOMAXPROCS=2")
	c.Run()
}
