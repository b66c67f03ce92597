package run

import (
	"os"
	"testing"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// TestMain lets this program be the supervisor of what it runs.
func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	inMemory()
	os.Exit(m.Run())
}

// inMemory keeps the folders of the tests in memory, where there is a place for that: a journal
// is synced after each trial, for which a disk takes longer than the trial that is generated.
func inMemory() {
	const memory = "/dev/shm"
	dir, err := os.MkdirTemp(memory, "procfit-")
	if err != nil {
		return
	}
	os.Remove(dir)
	os.Setenv("TMPDIR", memory)
}
