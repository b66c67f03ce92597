package terminal

import (
	"os"
	"runtime"

	"golang.org/x/term"
)

// Escapes tells whether escape sequences may be written to a file: it is a terminal, it
// says what it is and does not call itself dumb (terminfo(5)), and NO_COLOR is not set
// (https://no-color.org).
func Escapes(f *os.File) bool {
	name := os.Getenv("TERM")
	known := name != "dumb" && (name != "" || runtime.GOOS == "windows")
	return known && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}
