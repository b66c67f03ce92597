package topology

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Cache is a cache of the last level, with the CPUs that share it. Goroutines that share
// data and run at CPUs of two such caches move it between these.
type Cache struct {
	Level int
	Bytes int64 // 0: not known
	CPUs  []int // that may be used
}

// mostCaches bounds the caches of one CPU: machines have four or five.
const mostCaches = 16

// caches are those of the last level, in the order of their CPUs
// (Documentation/ABI/testing/sysfs-devices-system-cpu, cache). What cannot be read is none.
func caches(sys fs.FS, allowed []int) (list []Cache) {
	for _, cpu := range allowed {
		if slices.ContainsFunc(list, func(c Cache) bool { return slices.Contains(c.CPUs, cpu) }) {
			continue
		}
		var last Cache
		for index := range mostCaches {
			c, ok := cache(sys, cpu, index)
			if !ok {
				break
			}
			if c.Level > last.Level {
				last = c
			}
		}
		if last.CPUs = only(last.CPUs, allowed); len(last.CPUs) > 0 {
			list = append(list, last)
		}
	}
	return list
}

// cache reads a cache of a CPU by its number there.
func cache(sys fs.FS, cpu, index int) (c Cache, ok bool) {
	read := func(name string) string {
		b, err := readFile(sys, fmt.Sprintf("devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, name))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	level, err := strconv.ParseUint(read("level"), 10, 8)
	if err != nil {
		return c, false
	}
	cpus, err := parseThreads([]byte(read("shared_cpu_list")), cpu)
	if err != nil {
		return c, false
	}
	return Cache{Level: int(level), Bytes: parseCacheSize(read("size")), CPUs: cpus}, true
}

// parseCacheSize reads a size such as 32768K, in bytes; 0: it is none.
func parseCacheSize(text string) int64 {
	digits, kib := strings.CutSuffix(text, "K")
	n, err := strconv.ParseUint(digits, 10, 40)
	if err != nil {
		return 0
	}
	if kib {
		n <<= 10
	}
	return int64(n)
}
