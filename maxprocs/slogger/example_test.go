package slogger_test

import (
	"log/slog"
	"os"

	"github.com/procfit/procfit/maxprocs"
	"github.com/procfit/procfit/maxprocs/slogger"
)

func ExampleLogger() {
	os.Setenv("GOMAXPROCS", "2")
	defer os.Unsetenv("GOMAXPROCS")
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "num_cpu" || a.Key == "go_version" { // which differ
				return slog.Attr{}
			}
			return a
		},
	}))
	maxprocs.Set(slogger.Logger(log))
	// Output: level=INFO msg=GOMAXPROCS value=2 reason="GOMAXPROCS=2: set in the environment"
}
