package trace

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/test/must"
)

// A command gets a terminal as its input only where that cannot stop it.
func TestTerminalAsInput(t *testing.T) {
	master := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	defer master.Close()
	must.OK(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN))(t)
	tty := must.Get(os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	defer tty.Close()
	c := Command{In: tty}
	streams, ours, err := c.streams()
	must.OK(t, err)
	defer ours.close()
	defer closeStreams(streams, c.In)
	if !onTerminal(tty) || (streams.In == tty) == inBackground {
		t.Errorf("the input is %s, in the background: %v", streams.In.Name(), inBackground)
	}
}

// What a command prints last is a line of its own.
func TestEndLine(t *testing.T) {
	var printed strings.Builder
	w := &oneByOne{to: &printed}
	w.endLine()
	for _, text := range []string{"a", "", "b\n", "done"} {
		must.Get(w.Write([]byte(text)))(t)
		w.endLine()
	}
	if got := printed.String(); got != "a\nb\ndone\n" {
		t.Errorf("%q", got)
	}
}
