// Command crowd makes a scan hard. It says "ready" once it is as its first
// argument wants it, and ends with its standard input.
//
//	crowd sleep        nothing more
//	crowd threads N    N threads, each of which belongs to one goroutine
//	crowd churn N      N short Go processes, 8 at once; says "done" after them
//	crowd escapes      a name and arguments that write to terminals
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
)

func main() {
	switch what := os.Args[1]; what {
	case "sleep":
	case "threads":
		threads(number())
	case "churn":
		fmt.Println("ready")
		churn(number())
		fmt.Println("done")
		return
	case "short":
		return
	case "escapes":
		if err := os.WriteFile("/proc/self/comm", []byte("\x1b[2J\n\a\xff\x9b"), 0); err != nil {
			panic(err)
		}
	default:
		panic(what)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
}

func number() int {
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	return n
}

func threads(n int) {
	debug.SetMaxThreads(2 * n)
	var there sync.WaitGroup
	there.Add(n)
	for range n {
		go func() {
			runtime.LockOSThread()
			there.Done()
			select {}
		}()
	}
	there.Wait()
}

func churn(n int) {
	slots := make(chan bool, 8)
	for range n {
		slots <- true
		go func() {
			cmd := exec.Command("/proc/self/exe", "short")
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
			if err := cmd.Run(); err != nil {
				panic(err)
			}
			<-slots
		}()
	}
	for range cap(slots) {
		slots <- true
	}
}
