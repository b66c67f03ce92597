// Package slogger logs to log/slog what package maxprocs does. It is a separate package
// because slog makes a small program half a megabyte larger.
package slogger

import (
	"context"
	"log/slog"
	"runtime"

	"github.com/procfit/procfit/maxprocs"
)

// Logger is the option maxprocs.Logger for a slog.Logger. It logs the message
// "GOMAXPROCS" with the attributes value, num_cpu, go_version and reason. The level is
// warning if a limit is not known or GOMAXPROCS in the environment is ignored, and
// otherwise info.
func Logger(log *slog.Logger) maxprocs.Option {
	return maxprocs.Logger(func(_ string, args ...any) {
		for _, a := range args {
			if r, ok := a.(maxprocs.Result); ok {
				tell(log, r)
			}
		}
	})
}

func tell(log *slog.Logger, r maxprocs.Result) {
	level := slog.LevelInfo
	if r.Unknown != nil || r.EnvSet && r.Action != maxprocs.KeptEnv {
		level = slog.LevelWarn
	}
	log.LogAttrs(context.Background(), level, "GOMAXPROCS",
		slog.Int("value", r.Procs), slog.Int("num_cpu", runtime.NumCPU()),
		slog.String("go_version", runtime.Version()), slog.String("reason", r.String()))
}
