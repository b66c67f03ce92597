package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/local"
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
	if len(c.Env) > 0 {
		command = slices.Concat([]string{"env"}, c.Env, command) // the user's environment is told apart: reproduce.sh exports it
	}
	return journal.Header{
		Name:       c.Name(),
		Started:    time.Now().Truncate(time.Second),
		TargetHost: host,
		Tool:       journal.Tool{Version: version(), GoVersion: runtime.Version(), Args: s.toolArgs(o)},
		Target: journal.Target{
			Kind: c.Kind(), Command: redact(command), Against: redact(c.Against), URL: c.URL, Build: c.Build, BuiltIn: c.BuiltIn,
			SHA256: executableSum(c), ServerCPUs: o.serverCPUs, Directory: directory, Environment: runtimeVariables(c.Environ),
		},
		Load: journal.Load{
			Connections: o.connections, RatePerSecond: s.rate, Method: o.method, Headers: redactHeaders(o.headers), BodyBytes: len(c.Body), BodySHA256: sum(c.Body),
			Command: redact([]string{o.load})[0], Metrics: o.metrics, LoadCPUs: o.loadCPUs, ErrorRatioMax: c.MaxErrors, SameMachine: c.LoadOnThisMachine(),
			TrialTimeoutSeconds: c.Limit.Seconds(),
			DurationSeconds:     c.Duration.Seconds(), WarmupSeconds: c.Warmup.Seconds(), ReadyTimeoutSeconds: c.ReadyTimeout.Seconds(),
		},
		Plan: s.plan,
	}
}

// executableSum is the SHA-256 of the target's executable. What it cannot tell is
// a program behind a wrapper, such as go run.
func executableSum(c local.Config) string {
	if c.BuiltIn != "" || c.Build != "" || c.Kind() == local.GoBench {
		return ""
	}
	path, err := exec.LookPath(c.Command[0])
	if err != nil {
		return "" // the start will say so
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sum(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	h := sha256.Sum256(body)
	return hex.EncodeToString(h[:])
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

// runtimeVariables are those of the user's environment that bear on the Go runtime.
func runtimeVariables(environ []string) []string {
	var out []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOGC", "GOMEMLIMIT", "GODEBUG":
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
