package source

import (
	"os"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// Parts that the process of a judger plays where it misbehaves.
const (
	part     = "PROCFIT_TEST_JUDGER"
	deafPart = "deaf" // it does not read what it is asked
	mutePart = "mute" // it closes its output, and does not end
)

// TestMain is procfit's own processes, too.
func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	if played := os.Getenv(part); played != "" && len(os.Args) > 1 && os.Args[1] == stageName {
		if played == mutePart {
			os.Stdout.Close()
		}
		time.Sleep(time.Hour)
	}
	if code, ok := Stage(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
