package maxprocs

// FindLimits is findLimits for the comparison with package facts, in a test of its own.
func FindLimits(root string) (tightest, leaf float64, file, unknown string) {
	l := findLimits(root)
	return l.cpus, l.leaf, l.file, l.unknown.text()
}
