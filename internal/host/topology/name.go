package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
)

// The names of CPUs, beside node0 and so on.
const (
	NameCores       = "cores"       // one thread of each core
	NamePerformance = "performance" // those of performance cores
	NameEfficiency  = "efficiency"
)

// Select is the CPUs of a name. The error says which there are.
func (m Machine) Select(name string) ([]int, error) {
	switch name {
	case NameCores:
		if len(m.Cores) == 0 {
			return nil, fmt.Errorf("%q: the cores of this machine are not known", name)
		}
		var cpus []int
		for _, c := range m.Cores {
			cpus = append(cpus, c.CPUs[0])
		}
		slices.Sort(cpus)
		return cpus, nil
	case NamePerformance, NameEfficiency:
		if m.Performance == nil {
			return nil, fmt.Errorf("%q: the CPUs of this machine are alike, or its kernel does not tell which are faster", name)
		}
		if name == NameEfficiency {
			return m.Efficiency, nil
		}
		return m.Performance, nil
	}
	number, ok := strings.CutPrefix(name, "node")
	id, err := strconv.Atoi(number)
	if !ok || err != nil {
		return nil, fmt.Errorf("%q: want CPU numbers and ranges, as in 0-1,3, or node0, %s, %s, %s", name, NameCores, NamePerformance, NameEfficiency)
	}
	var have []string
	for _, n := range m.Nodes {
		if n.ID == id {
			return n.CPUs, nil
		}
		have = append(have, fmt.Sprintf("node%d", n.ID))
	}
	if have == nil {
		return nil, fmt.Errorf("%q: the nodes of this machine's memory are not known", name)
	}
	return nil, fmt.Errorf("%q: of the nodes of this machine's memory, those with CPUs that may be used are %s", name, phrase.And(have))
}
