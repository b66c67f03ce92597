package core

// FindLimits is findLimits for the comparison with package maxprocs, which this
// package's own tests cannot import.
func FindLimits(root string) (tightest, leaf float64, file, unknown string) {
	l := findLimits(root)
	return l.cpus, l.leaf, l.file, l.unknown
}
