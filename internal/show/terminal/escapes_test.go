package terminal

import (
	"os"
	"testing"
)

func TestEscapes(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("TERM", "xterm")
	if Escapes(null) {
		t.Error("a file that is no terminal takes escape sequences")
	}
}
