package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"sort"
	"strconv"
	"strings"
)

// Weight is a group's part of the CPUs where groups compete for them: cpu.shares on
// v1, cpu.weight on v2. It is no limit.
type Weight struct {
	Version int // of the cgroups: 1 or 2
	Value   int64
	File    string
}

// ErrNoWeight means that the group has none: the root of a v2 hierarchy, or a group
// whose parent does not hand on the cpu controller.
var ErrNoWeight = errors.New("the group has no weight of its own")

// ReadWeight reads the weight of the group at dir, an absolute path in the tree.
func ReadWeight(tree fs.FS, version int, dir string) (Weight, error) {
	w := Weight{Version: version, File: path.Join(dir, "cpu.weight")}
	if version == 1 {
		w.File = path.Join(dir, "cpu.shares")
	}
	b, err := fs.ReadFile(tree, strings.TrimPrefix(w.File, "/"))
	if errors.Is(err, fs.ErrNotExist) {
		return w, ErrNoWeight
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if err == nil {
		w.Value, err = parseWeight(version, string(b))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", w.File, err)
	}
	return w, err
}

// parseWeight reads one number: from 2 to 262144 on v1, from 1 to 10000 on v2, where
// a group with cpu.idle has 0 (Documentation/admin-guide/cgroup-v2.rst).
func parseWeight(version int, text string) (int64, error) {
	least, most := int64(0), int64(maxWeight)
	if version == 1 {
		least, most = minShares, maxShares
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("expected a number from %d to %d, got %q", least, most, text)
	}
	return n, nil
}

// Default reports whether it is what the kernel gives every new group, so that nobody
// need have asked for it.
func (w Weight) Default() bool {
	if w.Version == 1 {
		return w.Value == 1024
	}
	return w.Value == 100
}

// Conversion is a way by which Kubernetes and container runtimes turn a CPU request
// into a weight.
type Conversion string

const (
	Shares    Conversion = "shares"    // v1
	Linear    Conversion = "linear"    // v2, KEP-2254; what runc before 1.3.2 and crun before 1.23 write
	Quadratic Conversion = "quadratic" // v2, what these and later ones write: kubernetes/kubernetes#131216
)

// Conversions are those that lead to weights of this version of cgroups.
func Conversions(version int) []Conversion {
	if version == 1 {
		return []Conversion{Shares}
	}
	return []Conversion{Linear, Quadratic}
}

const (
	minShares = 2 // also what a container without a request gets
	maxShares = 262144
	maxWeight = 10000

	// MostMilli is the largest request with a weight of its own, in thousandths of
	// a CPU; larger ones have the same.
	MostMilli = maxShares * 1000 / 1024
)

// Weight is what a request becomes, in thousandths of a CPU; 0 is none.
func (c Conversion) Weight(milli int64) int64 {
	shares := min(max(milli, 0), MostMilli) * 1024 / 1000 // MilliCPUToShares of the kubelet
	shares = max(shares, minShares)
	switch {
	case c == Shares:
		return shares
	case c == Linear:
		return 1 + (shares-minShares)*(maxWeight-1)/(maxShares-minShares)
	case shares >= maxShares:
		return maxWeight
	}
	// Through (2, 1), (1024, 100) and (262144, 10000). A millionth forgives the
	// arithmetic where the result is whole, as it is at 1024.
	l := math.Log2(float64(shares))
	return int64(math.Ceil(math.Pow(10, (l*l+125*l)/612-7.0/34) - 1e-6))
}

// Requests are the smallest and the largest request with this weight, in
// thousandths of a CPU; false where there is none.
func (c Conversion) Requests(weight int64) (low, high int64, ok bool) {
	first := func(w int64) int64 {
		return int64(sort.Search(MostMilli+1, func(milli int) bool { return c.Weight(int64(milli)) >= w }))
	}
	low, high = first(weight), first(weight+1)-1
	return low, high, low <= high
}
