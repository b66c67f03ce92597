//go:build unix

package halt

import (
	"os"
	"os/signal"
	"syscall"
)

func notify(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }
