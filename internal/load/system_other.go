//go:build !linux || portable

package load

// hasRaw reports whether the raw engine is there: it needs Linux.
const hasRaw = false

// checkFiles leaves it to the connections themselves: a limit there is not ours to
// know.
func checkFiles(int) error { return nil }
