// Command probe says what automaxprocs does where it runs.
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"go.uber.org/automaxprocs/maxprocs"
)

func main() {
	answer := "left"
	options := []maxprocs.Option{maxprocs.Logger(func(format string, args ...any) {
		if strings.Contains(format, "Updating") {
			answer = fmt.Sprintf("set %v", args[0])
		}
	})}
	for _, word := range os.Args[1:] { // a number is Min
		if n, err := strconv.Atoi(word); err == nil {
			options = append(options, maxprocs.Min(n))
		} else if word == "ceil" {
			options = append(options, maxprocs.RoundQuotaFunc(func(v float64) int { return int(math.Ceil(v)) }))
		}
	}
	_, err := maxprocs.Set(options...)
	fmt.Println(answer)
	if err != nil {
		fmt.Println(err)
	}
}
