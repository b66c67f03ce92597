package slogger

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs"
	"github.com/procfit/procfit/maxprocs/internal/must"
)

// One line, with all that a reader of a log needs.
func TestLine(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	const most = 1 // which needs no limit, as a minimum does
	for env, want := range map[string]struct {
		level, reason string
		procs         int
	}{
		"":     {"WARN", "is ignored", most},
		"abc":  {"WARN", `GOMAXPROCS="abc"`, most},
		"0005": {"INFO", "GOMAXPROCS=0005 in the environment was set too late, or code has set another", before},
	} {
		runtime.GOMAXPROCS(before)
		t.Setenv("GOMAXPROCS", env)
		var out bytes.Buffer
		must.Get(maxprocs.Set(Logger(slog.New(slog.NewJSONHandler(&out, nil))), maxprocs.Max(most)))(t)
		var line struct {
			Level, Msg, Reason string
			Value              int
			NumCPU             int    `json:"num_cpu"`
			GoVersion          string `json:"go_version"`
		}
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || strings.Count(out.String(), "\n") != 1 {
			t.Fatalf("%v: %s", err, &out)
		}
		if line.Level != want.level || line.Msg != "GOMAXPROCS" || line.Value != want.procs || line.Value != runtime.GOMAXPROCS(0) ||
			line.NumCPU != runtime.NumCPU() || line.GoVersion != runtime.Version() || !strings.Contains(line.Reason, want.reason) {
			t.Errorf("GOMAXPROCS=%q: %s", env, &out)
		}
	}
}
