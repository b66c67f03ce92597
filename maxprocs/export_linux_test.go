package maxprocs

// FindLimits is findLimits for the comparison with package facts, in a test of its own.
func FindLimits(root string) (tightest, leaf float64, file, unknown string) {
	l := findLimits(root)
	return l.cpus, l.leaf, l.file, l.unknown.text()
}

// ProcsOf is the value for a limit, 0 for none, and an affinity.
func ProcsOf(limit float64, affinity int, opts ...Option) int {
	c := configure(opts)
	return c.procs(limit, affinity)
}
