// Command probe prints what automemlimit finds: bytes, "none", or "error" with why.
package main

import (
	"errors"
	"fmt"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func main() {
	switch limit, err := memlimit.FromCgroup(); {
	case errors.Is(err, memlimit.ErrNoLimit):
		fmt.Println("none")
	case err != nil:
		fmt.Println("error:", err)
	default:
		fmt.Println(limit)
	}
}
