// Package line prints the line of a blank import, which has no logger.
package line

import "time"

// Print writes to standard error in the format of package log, whose imports would be half
// of what package auto adds to a program.
func Print(text string) {
	print(time.Now().Format("2006/01/02 15:04:05 ") + text + "\n")
}
