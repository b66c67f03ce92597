package cli

import "github.com/procfit/procfit/internal/measure/plan"

// parseBeside reads --beside and --beside-quota; nil where nothing is to run beside
// the target.
func parseBeside(command, quota string) (*plan.Neighbour, error) {
	words, err := parseCommand("beside", command)
	switch {
	case err != nil:
		return nil, err
	case words == nil && quota != "":
		return nil, usageError("--beside-quota %q: there is nothing that it limits: name the neighbour with --beside 'COMMAND'", quota)
	case words == nil:
		return nil, nil
	}
	b := &plan.Neighbour{Command: words}
	if quota == "none" {
		b.Quota = new(float64)
	} else if quota != "" {
		limits, err := parseQuotas(quota)
		if err != nil || len(limits) != 1 || limits[0] == nil {
			return nil, usageError("--beside-quota %q: want CPUs as a number above zero, or none", quota)
		}
		b.Quota = limits[0]
	}
	return b, nil
}
