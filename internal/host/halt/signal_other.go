//go:build !unix

package halt

import "os"

func notify(chan<- os.Signal) {}
