package procstat

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// CPU is CPU time since boot, summed over CPUs. The kernel counts it in ticks, by
// what it finds running when one ends, so a short span is only roughly right.
type CPU struct {
	Total time.Duration
	Idle  time.Duration // iowait included
	Steal time.Duration // a CPU wanted to run, the hypervisor ran something else
}

func (c CPU) busy() time.Duration { return c.Total - c.Idle - c.Steal }

// parseCPU reads /proc/stat (proc_stat(5)): the sum over all CPUs in its first
// line, or the lines of those that are named, each once. An offline CPU has no line.
func parseCPU(b []byte, cpus []int) (CPU, error) {
	if len(cpus) == 0 {
		line, _, _ := bytes.Cut(b, []byte("\n"))
		return parseCPULine(line, "cpu")
	}
	want := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var sum CPU
	for line := range bytes.Lines(b) {
		name, _, _ := bytes.Cut(line, []byte(" "))
		digits, ok := bytes.CutPrefix(name, []byte("cpu"))
		n, err := strconv.Atoi(string(digits))
		if !ok || err != nil {
			continue
		}
		i, found := slices.BinarySearch(want, n)
		if !found {
			continue
		}
		want = slices.Delete(want, i, i+1)
		c, err := parseCPULine(line, string(name))
		if err != nil {
			return CPU{}, err
		}
		if sum.Total > math.MaxInt64-c.Total {
			return CPU{}, fmt.Errorf("/proc/stat: %q: %w", clip(line), strconv.ErrRange)
		}
		sum.Total, sum.Idle, sum.Steal = sum.Total+c.Total, sum.Idle+c.Idle, sum.Steal+c.Steal
	}
	if len(want) > 0 {
		return CPU{}, fmt.Errorf("/proc/stat: no line of CPU %d: there is none such, or it is offline", want[0])
	}
	return sum, nil
}

// parseCPULine reads user, nice, system, idle, iowait, irq, softirq, steal; guest
// times follow and are part of user.
func parseCPULine(line []byte, name string) (CPU, error) {
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != name {
		return CPU{}, fmt.Errorf("/proc/stat: line %q, want %s and eight numbers", clip(line), name)
	}
	p := numbers{fields: f}
	var v [9]time.Duration
	var c CPU
	for i := 1; i <= 8; i++ {
		v[i] = time.Duration(p.at(i, maxTicks/8)) * tick
		c.Total += v[i]
	}
	if p.err != nil {
		return CPU{}, fmt.Errorf("/proc/stat: %q: %w", clip(line), p.err)
	}
	c.Idle, c.Steal = v[4]+v[5], v[8]
	return c, nil
}
