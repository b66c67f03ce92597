package source

import (
	"os"
	"testing"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// TestMain is procfit's own processes, too.
func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	if code, ok := Stage(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
