// Command probe says what automaxprocs does where it runs.
package main

import (
	"fmt"
	"strings"

	"go.uber.org/automaxprocs/maxprocs"
)

func main() {
	answer := "left"
	_, err := maxprocs.Set(maxprocs.Logger(func(format string, args ...any) {
		if strings.Contains(format, "Updating") {
			answer = fmt.Sprintf("set %v", args[0])
		}
	}))
	fmt.Println(answer)
	if err != nil {
		fmt.Println(err)
	}
}
