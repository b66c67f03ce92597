// Package svg draws an execution trace: a row for each P, a bar for each span in
// its goroutine's colour, an arrow from the P that a goroutine was stolen from at
// the time when it began elsewhere. The drawing stands alone, light or dark as the
// reader's system is, and holds no script.
package svg
