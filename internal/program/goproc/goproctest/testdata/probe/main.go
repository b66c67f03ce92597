// Command probe says of itself what procfit reads from outside, and does as it is
// told: a line in for each line out. A line out is its GOMAXPROCS, the number of
// CPUs that it counts, then the counts of /sched/latencies:seconds, all separated
// by spaces. A line in is a number, to set GOMAXPROCS to, "default", for
// runtime.SetDefaultGOMAXPROCS, "collect", which gets a line of that before, "limit" and
// a number, to set GOMEMLIMIT to, or nothing.
package main

import (
	"bufio"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

// setDefault is runtime.SetDefaultGOMAXPROCS where there is one.
var setDefault func()

// setMemoryLimit is debug.SetMemoryLimit where there is one.
var setMemoryLimit func(int64) int64

func main() {
	wait()
	in := bufio.NewScanner(os.Stdin)
	for {
		os.Stdout.WriteString(state())
		if !in.Scan() {
			return
		}
		word := in.Text()
		if strings.HasPrefix(word, "limit ") {
			n, err := strconv.ParseInt(word[len("limit "):], 10, 64)
			if err != nil {
				os.Exit(1)
			}
			setMemoryLimit(n)
			continue
		}
		switch word {
		case "":
		case "collect":
			os.Stdout.WriteString(collect())
		case "default":
			setDefault()
		default:
			n, err := strconv.Atoi(word)
			if err != nil {
				os.Exit(1)
			}
			runtime.GOMAXPROCS(n)
		}
	}
}

func state() string {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	line := strconv.Itoa(runtime.GOMAXPROCS(0)) + " " + strconv.Itoa(runtime.NumCPU())
	if sample[0].Value.Kind() == metrics.KindFloat64Histogram {
		for _, n := range sample[0].Value.Float64Histogram().Counts {
			line += " " + strconv.FormatUint(n, 10)
		}
	}
	return line + "\n"
}

// wait lets goroutines wait for one another, for latencies to read.
func wait() {
	var all sync.WaitGroup
	for i := 0; i < 64; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for round := 0; round < 4; round++ {
				for until := time.Now().Add(50 * time.Microsecond); time.Now().Before(until); {
				}
				runtime.Gosched()
			}
		}()
	}
	all.Wait()
}
