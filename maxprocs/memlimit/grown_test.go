package memlimit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// grow is the variable by which TestMain is asked to be a program whose live heap is
// small and whose garbage grows to its GOMEMLIMIT; it says how that is set.
const grow = "MEMLIMIT_TEST_GROW"

const (
	halvedFrom = 128 * mib
	growth     = 160 * mib // allocated in all
	growthRate = 100 * mib // a second
)

var garbage []byte

// grown is that program: it begins once a line on standard input says that it is in its
// group, says so, and ends when it has allocated all.
func grown(how string) {
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	debug.SetGCPercent(-1)
	if how == "watch" {
		taken := make(chan struct{})
		var once sync.Once
		go Watch(context.Background(), OnChange(func(Result) { once.Do(func() { close(taken) }) }))
		<-taken
	} else if _, err := Set(); err != nil {
		panic(err)
	}
	fmt.Println(debug.SetMemoryLimit(-1))
	const chunk = 64 << 10
	begun := time.Now()
	for n := 0; n < growth; n += chunk {
		garbage = make([]byte, chunk)
		for i := 0; i < chunk; i += 4096 {
			garbage[i] = 1
		}
		if ahead := time.Duration(n)*time.Second/growthRate - time.Since(begun); ahead > time.Millisecond {
			time.Sleep(ahead)
		}
	}
}
