package lab

import "slices"

// The oldest releases of Go that build the programs.
const modern, ancient = "1.21", "1.2"

// Tolerances, from the documents alone and not to fit what was measured here.
const (
	// Document 000: "Single runs vary by 5–10% even on quiet hardware", and its
	// tables are single runs. So a ratio of theirs is met within 10%.
	tenthLess, tenthMore = 0.90, 1.10
	// What the documents call flat spreads over 2% (001, I/O-bound: 15.3 to 15.0 s;
	// 000, above the peak: 78.1 to 76.4). 5% is flat.
	flatLess, flatMore = 0.95, 1.05
)

// List is every experiment, in the documents' order.
func List() []Experiment {
	return slices.Concat(capacity, goroutines, scheduler, channels, containers, limits, statements, furtherStatements)
}
