//go:build linux

// Command guest runs in the emulated machine: it starts every probe of
// /cells.json in the group, on the CPUs and in the namespaces asked for, has
// procfit explain them all while they sleep, and prints one JSON line a probe.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Order is one probe to start. The test writes the same names.
type Order struct {
	ID            int      `json:"id"`
	Program       string   `json:"program"`        // its path
	Env           []string `json:"env"`            // all of its environment
	Quotas        []int64  `json:"quotas"`         // µs in each period, of the groups from the top; 0: no limit
	Period        int64    `json:"period"`         // µs
	Affinity      []int    `json:"affinity"`       // CPUs of the mask; none: all
	Cpuset        string   `json:"cpuset"`         // of a cpuset group; "": none
	View          string   `json:"view"`           // how it sees the cgroups: see enter
	CgroupAt      string   `json:"cgroup_at"`      // where the cpu hierarchy is mounted
	CpusetAt      string   `json:"cpuset_at"`      // where the cpuset controller is
	Version       int      `json:"version"`        // of the cpu hierarchy
	CpusetVersion int      `json:"cpuset_version"` // of that one
}

// Answer is what became of it.
type Answer struct {
	ID     int             `json:"id"`
	PID    int             `json:"pid,omitempty"`
	Output string          `json:"output,omitempty"`
	Error  string          `json:"error,omitempty"`
	Says   json.RawMessage `json:"says,omitempty"` // procfit's decision of it
}

// printLimit bounds the wait for one probe. With GOMAXPROCS=999 in a group of
// 0.125 CPUs of 64 one has taken 50 s to start under emulation.
const printLimit = 120 * time.Second

// atOnce bounds the probes that start at the same time: enough that the throttled
// ones hold up nobody, few enough that none waits for long.
const atOnce = 8

func main() {
	// The main thread stays in the machine's own namespaces: /proc/self is its.
	runtime.LockOSThread()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

func run() error {
	b, err := os.ReadFile("/cells.json")
	if err != nil {
		return err
	}
	var orders []Order
	if err := json.Unmarshal(b, &orders); err != nil {
		return err
	}
	began := time.Now()
	answers := startAll(orders)
	printed := time.Now()
	if err := explain(answers); err != nil {
		return err
	}
	fmt.Printf("times: started %d probes in %.1f s, explained them in %.1f s\n", len(orders), printed.Sub(began).Seconds(), time.Since(printed).Seconds())
	out := json.NewEncoder(os.Stdout)
	for _, a := range answers {
		fmt.Print("answer: ")
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

func outputFile(id int) string { return filepath.Join("/tmp", fmt.Sprintf("out.%d", id)) }

// startAll starts the probes, a few at a time, and returns when each has printed
// its line or failed.
func startAll(orders []Order) []Answer {
	answers := make([]Answer, len(orders))
	deadlines := map[int]time.Time{} // of those that are on their way
	for i := 0; i < len(orders) || len(deadlines) > 0; {
		if i < len(orders) && len(deadlines) < atOnce {
			answers[i] = start(orders[i])
			deadlines[i] = time.Now().Add(printLimit)
			i++
			continue
		}
		for j, deadline := range deadlines {
			a := &answers[j]
			b, err := os.ReadFile(outputFile(a.ID))
			line, _, ok := bytes.Cut(b, []byte("\n"))
			switch {
			case a.Error != "":
			case err != nil:
				a.Error = err.Error()
			case ok:
				a.Output = string(line)
			case time.Now().After(deadline):
				a.Error = fmt.Sprintf("printed no line in %v, only %q", printLimit, b)
			default:
				continue
			}
			delete(deadlines, j)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return answers
}
