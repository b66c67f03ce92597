package terminal

import (
	"os"
	"testing"

	"github.com/procfit/procfit/test/must"
)

func TestEscapes(t *testing.T) {
	null := must.Get(os.Open(os.DevNull))(t)
	defer null.Close()
	t.Setenv("TERM", "xterm")
	if Escapes(null) {
		t.Error("a file that is no terminal takes escape sequences")
	}
}
