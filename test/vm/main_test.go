package vm

import (
	"os"
	"testing"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// TestMain lets this program be the supervisor of the compilers that it runs.
func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	code := m.Run()
	if dir, err := folder(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}
