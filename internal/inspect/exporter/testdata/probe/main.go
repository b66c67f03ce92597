// Command probe stands still until its standard input ends. With an argument, a
// number, it meanwhile keeps so many goroutines busy, each for a millisecond at a
// time. It also listens on the Unix sockets that LISTEN names, one after the other; INODE in the
// name of one is that of the socket before it.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil {
			os.Exit(2)
		}
		for range n {
			go work()
		}
	}
	inode := ""
	for _, name := range strings.FieldsFunc(os.Getenv("LISTEN"), func(r rune) bool { return r == '|' }) {
		l, err := net.Listen("unix", strings.ReplaceAll(name, "INODE", inode))
		if err != nil {
			panic(err)
		}
		f, err := l.(*net.UnixListener).File()
		if err != nil {
			panic(err)
		}
		link, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		inode = strings.Trim(link, "socket:[]")
	}
	io.Copy(io.Discard, os.Stdin)
}

func work() {
	for {
		for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
		}
		time.Sleep(10 * time.Microsecond)
	}
}
