// Package auto sets GOMAXPROCS when it is imported, and says so in one line of
// the default slog.Logger:
//
//	import _ "github.com/procfit/procfit/maxprocs/auto"
//
// It takes the place of go.uber.org/automaxprocs. The value is that of Set
// without options: see package maxprocs. Whoever wants options, another logger
// or no line calls Set instead.
//
// Packages are initialised before main: what sizes itself by GOMAXPROCS in an
// init of its own may have seen the value of before.
package auto

import (
	"context"
	"log/slog"
	"runtime"

	"github.com/procfit/procfit/maxprocs"
)

func init() { set(slog.Default()) }

func set(log *slog.Logger, opts ...maxprocs.Option) {
	var r maxprocs.Result
	_, err := maxprocs.Set(append(opts, maxprocs.Detail(&r))...)
	level := slog.LevelInfo
	if err != nil || r.EnvSet && r.Action != maxprocs.KeptEnv {
		level = slog.LevelWarn
	}
	log.LogAttrs(context.Background(), level, "GOMAXPROCS",
		slog.Int("value", r.Procs), slog.Int("num_cpu", runtime.NumCPU()),
		slog.String("go_version", runtime.Version()), slog.String("reason", r.String()))
}
