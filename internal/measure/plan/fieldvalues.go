package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// parts are those of a field that the command has. --for has the parts of --trial-time where it
// is the time of the whole run.
func (f *Flags) parts(name string) []field.Part {
	t, l, tls := &f.Target, &f.Load, &f.Load.TLS
	times := []field.Part{
		{Value: field.Time(&l.Duration, 1, "3s")},
		{Name: "warmup", Value: field.Time(&l.Warmup, 0, "500ms")},
	}
	all := map[string][]field.Part{"trial-time": times, "for": times, "timeout": {
		{Name: "ready", Value: field.Time(&t.ReadyTimeout, 1, "30s"), Help: "until the server is ready"},
		{Name: "quiet", Value: field.Time(&f.Patience, 0, "2m"), Help: "in all, to wait until other programs leave CPUs free; then the sweep ends with what it has; 0s measures anyway"},
		{Name: "request", Value: field.Time(&l.RequestTimeout, 1, "10s"), Help: "until a request is answered; a later answer is an error"},
		{Name: "run", Value: field.Time(&t.RunTimeout, 0, "30s"), Help: "until a run of a batch program ends; a longer run makes its trial invalid"},
		{Name: "stop", Value: field.Time(&t.Grace, 0, "5s"), Help: "from SIGTERM to SIGKILL when procfit stops the program"},
	}, "margin": {
		{Value: field.Share(&f.Margin, 1)},
		{Name: "p99", Value: field.Share(&f.MarginP99, math.Inf(1))},
	}, "until": {
		{Value: field.Choice(&f.Race.Goal, journal.GoalProven, journal.GoalLikely)},
		{Name: "trials", Value: field.Shown(&f.Race.MaxTrials, "", field.Whole(1, maxTrials), strconv.Itoa)},
	}, "cpus": {
		{Name: "target", Many: true, Value: cpus(&t.CPUs, &f.TargetNamed)},
		{Name: "load", Many: true, Value: f.loadCPUs()},
	}, "tls": {
		{Name: "ca", Value: field.Text(&tls.CACert)},
		{Name: "cert", Value: field.Text(&tls.Cert)},
		{Name: "key", Value: field.Text(&tls.Key)},
		{Name: "name", Value: field.Text(&tls.ServerName)},
		{Name: "insecure", Value: field.Switch(&tls.Insecure), Alone: true},
	}}
	has := f.Parts[name]
	return slices.DeleteFunc(all[name], func(p field.Part) bool { return has != nil && !slices.Contains(has, p.Name) })
}

// RunField is --for of a command whose run is one measurement: its time.
func (f *Flags) RunField(help string) field.Field {
	parts := f.parts("for")
	v := parts[0].Value
	if len(parts) > 1 {
		v = field.Parts(parts...)
	}
	return field.Field{
		Name: "for", Group: field.Load, Holds: "TIME", Often: true, Help: help + " (default " + field.Defaults(parts) + ")", Value: v,
	}
}

// pins are the parts of --cpus. A number of CPUs is a limit, which other tools call so.
func (f *Flags) pins() []field.Part {
	list := f.parts("cpus")
	refused := field.Parsed(new(string), "", func(text string) (string, error) {
		return "", fmt.Errorf("%q: expected whose CPUs these are, such as %s=0-3; a CPU limit is --limit %[1]s", text, list[0].Name)
	})
	return append([]field.Part{{Value: refused}}, list...)
}

// cpus is a list of CPUs, or a name of some, which only their machine can tell.
func cpus(p *cpuset.Set, name *string) field.Value {
	return field.Shown(p, "", func(text string) (cpuset.Set, error) {
		*name = ""
		word, err := field.Some(strings.TrimSpace(text))
		switch {
		case err != nil:
			return nil, err
		case unicode.IsLetter(rune(word[0])):
			*name = word
			return nil, nil
		}
		set, err := cpuset.Parse(text)
		if err != nil {
			err = fmt.Errorf("%q: expected CPU numbers and ranges, such as 0-1,3, or node0, cores, performance, efficiency", text)
		}
		return set, err
	}, func(set cpuset.Set) string { return cmp.Or(*name, set.String()) })
}

func (f *Flags) loadCPUs() field.Value {
	list := cpus(&f.Load.CPUs, &f.LoadNamed)
	return field.Shown(&f.Load.Shared, "", func(text string) (bool, error) {
		if text == "shared" {
			f.Load.CPUs, f.LoadNamed = nil, ""
			return true, nil
		}
		return false, list.Set(text)
	}, func(shared bool) string {
		if shared {
			return "shared"
		}
		return list.String()
	})
}

// statusList is a text that means HTTP statuses; no command is only digits.
var statusList = pattern.Of(`^[0-9][0-9, -]*$`)

// readyProbe reads tcp, grpc, statuses, a URL with or without them, or a command.
func (f *Flags) readyProbe(text string) (p ready.Probe, err error) {
	if text, err = field.Some(strings.TrimSpace(text)); err != nil {
		return p, err
	}
	statuses := ""
	if rest, last, ok := strings.Cut(text, " "); ok && strings.Contains(rest, "://") && statusList().MatchString(last) {
		text, statuses = rest, last
	} else if statusList().MatchString(text) {
		text, statuses = "", text
	}
	isCommand := false
	if text != "" {
		p, isCommand = ready.Parse(text)
	}
	if isCommand {
		p.Command, err = words(text)
	}
	if statuses != "" {
		p.Statuses, err = ready.ParseStatuses(statuses)
	}
	p.Health = f.Target.Ready.Health
	return p, err
}

// protoFile is a file with types: source, or a descriptor set, which goes to Call.Protoset.
func (f *Flags) protoFile(text string) (string, error) {
	if filepath.Ext(text) == ".proto" {
		return text, nil
	}
	if f.Call.Protoset != "" {
		return "", fmt.Errorf("%q: %s is a descriptor set already; use only one", text, f.Call.Protoset)
	}
	f.Call.Protoset = text
	return "", nil
}

// oneLimit reads one limit; 0 is none.
func oneLimit(text string) (*float64, error) {
	list, err := limits(text)
	switch {
	case err != nil:
		return nil, err
	case len(list) != 1:
		return nil, fmt.Errorf("%q: expected one CPU limit, such as 500m, 0.5 or none", text)
	case list[0] == nil:
		return new(float64), nil
	}
	return list[0], nil
}

func seed(text string) (uint64, error) {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		err = fmt.Errorf("%q: expected a whole number from 0", text)
	}
	return v, err
}

// words splits a command as a shell would.
func words(text string) ([]string, error) {
	if _, err := field.Some(text); err != nil {
		return nil, err
	}
	list, err := load.Split(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q: %w", secret.Text(text), err)
	case len(list) == 0:
		return nil, fmt.Errorf("%q: expected a command", text)
	}
	return list, nil
}

// generator is a command that words splits, once the trial fills it in.
func generator(text string) (string, error) {
	_, err := words(text)
	return text, err
}

// limitsAndBeside reads limits, with at most one "beside=0.5" among them, which is the neighbour's.
func (f *Flags) limitsAndBeside(text string) ([]*float64, error) {
	var rest []string
	var beside *float64
	for item := range strings.SplitSeq(text, ",") {
		of, its := strings.CutPrefix(strings.TrimSpace(item), "beside=")
		if !its {
			rest = append(rest, item)
			continue
		}
		var err error
		if beside, err = oneLimit(of); err != nil {
			return nil, err
		}
	}
	if rest == nil {
		rest = []string{"none"}
	}
	list, err := limits(strings.Join(rest, ","))
	if err == nil {
		f.Neighbour.Quota = beside
	}
	return list, err
}

func (f *Flags) limitsText(list []*float64) string {
	words := phrase.Each(list, limitText)
	if q := f.Neighbour.Quota; q != nil {
		words = append(words, "beside="+limitText(q))
	}
	return strings.Join(words, ",")
}

func limitText(limit *float64) string {
	if limit == nil || *limit == 0 {
		return "none"
	}
	return exact(*limit)
}

// limits reads "none,500m,2", each once; nil stands for no limit.
func limits(text string) ([]*float64, error) {
	if _, err := field.Some(text); err != nil {
		return nil, err
	}
	var list []*float64
	for item := range strings.SplitSeq(text, ",") {
		var limit *float64
		if item = strings.TrimSpace(item); item != "none" {
			v, err := number.ParseCPUs(item)
			if errors.Is(err, number.ErrTooManyCPUs) {
				return nil, err
			}
			if err != nil {
				return nil, &field.Mistake{Text: item, Reason: "expected a CPU limit above zero, in CPUs or thousandths of one, or none", Example: "500m"}
			}
			limit = &v
		}
		if err := tooLow(limit); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(have *float64) bool { return equal(have, limit) }) {
			list = append(list, limit)
		}
	}
	return list, nil
}

// minQuota is the kernel's smallest quota, 1 ms, in the period of 100 ms
// (kernel/sched/core.c, min_cfs_quota_period).
const minQuota = 0.01

// tooLow refuses a limit that the kernel does not know.
func tooLow(limit *float64) error {
	if limit == nil || *limit >= minQuota {
		return nil
	}
	return fmt.Errorf("%g: the kernel allows no CPU limit below 1 ms in a period of 100 ms, which is %g CPUs", *limit, minQuota)
}

// Rate reads requests per second; 0 stands for auto.
func Rate(text string) (float64, error) {
	if text == "auto" {
		return 0, nil
	}
	return PerSecond(text, ", or auto")
}

func rateText(v float64) string {
	if v == 0 {
		return "auto"
	}
	return exact(v)
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// PerSecond reads 1000, 12.8k or 1M, as reports print it. Instead is what else may be given: ", or auto".
func PerSecond(text, instead string) (float64, error) {
	number, factor := text, 1.0
	switch {
	case strings.HasSuffix(text, "k"):
		number, factor = strings.TrimSuffix(text, "k"), 1e3
	case strings.HasSuffix(text, "M"):
		number, factor = strings.TrimSuffix(text, "M"), 1e6
	}
	v, err := field.Above("")(number)
	if err != nil || math.IsInf(v*factor, 0) {
		return 0, fmt.Errorf("%q: expected requests per second above zero, such as 1000 or 1k%s", text, instead)
	}
	return v * factor, nil
}

// goVersionForm takes 1.24, 1.24.6 and 1.26rc1, each with or without "go".
var goVersionForm = pattern.Of(`^(go)?\d+\.\d+(\.\d+|(rc|beta)\d+)?$`)

func goVersion(text string) (string, error) {
	if !goVersionForm().MatchString(text) {
		return "", fmt.Errorf("%q: expected a Go version such as 1.24 or 1.24.6", text)
	}
	return strings.TrimPrefix(text, "go"), nil
}

// variable reads NAME=VALUE. It never quotes a value: it may be a credential.
func (f *Flags) variable(text string) (string, error) {
	name, _, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return "", fmt.Errorf("has no =: expected NAME=VALUE, such as GOGC=50")
	case strings.TrimSpace(name) == "":
		return "", fmt.Errorf("has no name before the =: expected NAME=VALUE, such as GOGC=50")
	case name == "GOMAXPROCS" && !f.OwnProcs:
		return "", fmt.Errorf("GOMAXPROCS: procfit sets it; name the values with --procs")
	}
	return text, nil
}

// Limited is a CPU limit that holds for a while: a step of a resize that is rehearsed.
type Limited struct {
	At, For time.Duration // since the first step
	CPUs    float64
}

const (
	LeastStep = 3 * time.Second // that a limit must hold, for the runtime to follow and for load
	mostSteps = 100
)

// ParseSteps reads "0s:2 30s:500m", times and limits. The last one holds as long as the one before it.
func ParseSteps(text string) ([]Limited, error) {
	var steps []Limited
	wrong := func(item, reason string) error {
		return &field.Mistake{Text: item, Reason: reason, Example: "'0s:2 30s:8 60s:2'"}
	}
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }) {
		from, limit, ok := strings.Cut(item, ":")
		if !ok {
			return nil, wrong(item, "expected TIME:CPUS, from when and which CPU limit")
		}
		at, err := time.ParseDuration(from)
		if err != nil || at < 0 {
			return nil, wrong(item, "expected a time such as 30s before the colon")
		}
		list, err := limits(limit)
		if errors.Is(err, number.ErrTooManyCPUs) {
			return nil, err
		}
		if err != nil || len(list) != 1 || list[0] == nil {
			return nil, wrong(item, fmt.Sprintf("expected a CPU limit of at least %g after the colon, in CPUs or thousandths of one", minQuota))
		}
		if n := len(steps); n > 0 {
			steps[n-1].For = at - steps[n-1].At
			switch {
			case steps[n-1].For < LeastStep:
				return nil, wrong(item, fmt.Sprintf("expected a step at least %s after the one before it", number.Chosen(LeastStep)))
			case steps[n-1].CPUs == *list[0]:
				return nil, wrong(item, "expected another CPU limit than that of the step before it")
			}
		} else if at != 0 {
			return nil, wrong(item, "expected the first step at 0s")
		}
		steps = append(steps, Limited{At: at, CPUs: *list[0]})
	}
	switch n := len(steps); {
	case n < 2:
		return nil, wrong(text, "expected two steps or more")
	case n > mostSteps:
		return nil, fmt.Errorf("has %d steps: expected at most %d", n, mostSteps)
	default:
		steps[n-1].For = steps[n-2].For
	}
	return steps, nil
}
