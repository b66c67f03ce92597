package cli

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/procstat"
	"github.com/procfit/procfit/maxprocs"
)

func (o *sweepOptions) header(s *session, host journal.Host) journal.Header {
	c := s.config
	directory, _ := os.Getwd()
	command := c.Command
	if c.BuiltIn != "" {
		command = append([]string{"procfit"}, command[1:]...) // go run puts the binary elsewhere each time
	}
	return journal.Header{
		Name:    c.Name(),
		Started: time.Now().Truncate(time.Second),
		Host:    host,
		Tool:    journal.Tool{Version: version(), GoVersion: runtime.Version(), Args: s.toolArgs(o)},
		Target: journal.Target{
			Kind: c.Kind(), Command: command, Against: c.Against, URL: c.URL, Build: c.Build, BuiltIn: c.BuiltIn,
			ServerCPUs: o.serverCPUs, Directory: directory, Environment: runtimeVariables(c.Environ),
		},
		Load: journal.Load{
			Connections: o.connections, RatePerSecond: s.rate, Method: o.method, Headers: redact(o.headers), BodyBytes: len(c.Body),
			Command: o.load, Metrics: o.metrics, LoadCPUs: o.loadCPUs, ErrorRatioMax: c.MaxErrors, SameMachine: c.LoadOnThisMachine(),
			DurationSeconds: c.Duration.Seconds(), WarmupSeconds: c.Warmup.Seconds(), ReadyTimeoutSeconds: c.ReadyTimeout.Seconds(),
		},
		Plan: s.plan,
	}
}

// toolArgs is the command line for reproduce.sh; it names the seed, so that the
// same order runs again.
func (s *session) toolArgs(o *sweepOptions) []string {
	args := redact(o.args)
	if !o.seedGiven {
		args = slices.Insert(args, 1, fmt.Sprintf("--seed=%d", s.plan.Seed))
	}
	return args
}

// runtimeVariables are those of the environment that bear on the Go runtime.
func runtimeVariables(environ []string) []string {
	var out []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG":
			out = append(out, v)
		}
	}
	return out
}

func hostOf() journal.Host {
	name, _ := os.Hostname()
	h := journal.Host{Hostname: name, OS: runtime.GOOS, Arch: runtime.GOARCH}
	if machine, err := procstat.Host(); err == nil {
		h.CPUModel, h.CPUs, h.Kernel, h.MemoryBytes = machine.CPUModel, machine.CPUs, machine.Kernel, machine.MemoryBytes
	}
	facts := maxprocs.Read()
	h.AffinityCPUs, h.EffectiveCPUs, h.CgroupMode = facts.AffinityCPUs(), facts.EffectiveCPUs(), facts.CgroupMode()
	return h
}
