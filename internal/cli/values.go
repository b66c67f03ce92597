package cli

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/internal/program/ready/health"
	"github.com/procfit/procfit/internal/show/secret"
)

// parseRatio reads "5%" or "0.05" as 0.05.
func parseRatio(flag, s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return 0, usageError("--%s %q: want a share above zero, as in 5%% or 0.05", flag, s)
	}
	if percent {
		v /= 100
	}
	return v, nil
}

// parseQuotas reads "none,0.5,2"; nil stands for no limit.
func parseQuotas(s string) ([]*float64, error) {
	if s == "" {
		return []*float64{nil}, nil
	}
	var quotas []*float64
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if item == "none" {
			if !slices.Contains(quotas, nil) {
				quotas = append(quotas, nil)
			}
			continue
		}
		v, err := strconv.ParseFloat(item, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
			return nil, usageError("--quota %q: want CPUs as a number above zero, or none, as in none,0.5,2", item)
		}
		if !slices.ContainsFunc(quotas, func(have *float64) bool { return have != nil && *have == v }) {
			quotas = append(quotas, &v)
		}
	}
	return quotas, nil
}

// parseCPUs reads a cpuset such as "0-1,3", or a name such as node0, which is said to be
// of which CPUs.
func parseCPUs(flag, s string, std stdio) ([]int, error) {
	if name := strings.TrimSpace(s); name != "" && unicode.IsLetter(rune(name[0])) {
		cpus, err := topology.Read(os.DirFS("/sys"), topology.Allowed()).Select(name)
		if err != nil {
			return nil, usageError("--%s %w", flag, err)
		}
		std.notef("--%s %s: CPUs %s", flag, name, cpuset.Format(cpus))
		return cpus, nil
	}
	cpus, err := cpuset.Parse(s)
	if err != nil {
		return nil, usageError("--%s %q: want CPU numbers and ranges, as in 0-1,3, or node0, cores, performance, efficiency", flag, s)
	}
	return cpus, nil
}

// parseCommand splits a command as a shell would; nil where none was given.
func parseCommand(flag, s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	words, err := load.Split(s)
	if err != nil {
		return nil, usageError("--%s %q: %w", flag, secret.Text(s), err)
	}
	if len(words) == 0 {
		return nil, usageError("--%s %q: want a command", flag, s)
	}
	return words, nil
}

// parseReady reads --ready and --ready-status.
func parseReady(text, statuses string) (ready.Probe, error) {
	p, isCommand := ready.Probe{}, false
	if text != "" {
		p, isCommand = ready.Parse(text)
	}
	p.Health = health.Service{}
	var err error
	if isCommand {
		if p.Command, err = parseCommand("ready", text); err != nil {
			return p, err
		}
	}
	if statuses != "" {
		if p.Statuses, err = ready.ParseStatuses(statuses); err != nil {
			return p, usageError("--ready-status %w", err)
		}
	}
	return p, nil
}

// body reads the request's body from --body or --body-file.
func body(text, file string, in stdio) ([]byte, error) {
	switch {
	case text != "" && file != "":
		return nil, usageError("--body and --body-file exclude each other")
	case file == "":
		return []byte(text), nil
	}
	return readInput("body-file", file, mostBody, in)
}

// mostBody bounds the body of a request, in bytes; a pod that sends the load gets it as
// one message.
const mostBody = 64 << 20

// parseRate reads a rate a second; 0 stands for auto.
func parseRate(s string) (float64, error) {
	if s == "auto" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return 0, usageError("--rate %q: want requests a second above zero, or auto", s)
	}
	return v, nil
}

// readInput reads the file of a flag, or standard input: a pipe too, until a signal.
func readInput(flag, file string, most int64, in stdio) (b []byte, err error) {
	if file == "-" {
		b, err = folder.ReadAll(in.ctx, in.in, most)
	} else {
		b, err = folder.ReadFile(in.ctx, file, most)
	}
	if err != nil && in.ctx.Err() == nil {
		err = usageError("--%s: %w", flag, err)
	}
	return b, err
}

// goVersionForm takes 1.24, 1.24.6 and 1.26rc1, each with or without "go".
var goVersionForm = regexp.MustCompile(`^(go)?\d+\.\d+(\.\d+|(rc|beta)\d+)?$`)

// parseGoVersions checks the versions of --go; each counts once.
func parseGoVersions(list []string) ([]string, error) {
	var versions []string
	for _, v := range list {
		if !goVersionForm.MatchString(v) {
			return nil, usageError("--go %q is not a Go version such as 1.24 or 1.24.6", v)
		}
		if v = strings.TrimPrefix(v, "go"); !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return versions, nil
}
