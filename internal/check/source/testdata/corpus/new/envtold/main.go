// To tell the variable, or to look whether it is a number, is no mistake.
package main

import (
	"log"
	"os"
	"strconv"
)

func main() {
	log.Print(os.Getenv("GOMAXPROCS"))
	if _, err := strconv.Atoi(os.Getenv("GOMAXPROCS")); err != nil {
		log.Print("GOMAXPROCS is no number")
	}
	n, _ := strconv.Atoi(os.Getenv("WORKERS"))
	println(n)
}
