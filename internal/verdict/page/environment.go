package page

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// environmentBlocks is what a reader must know to believe or repeat the run.
func environmentBlocks(r *verdict.Result) (blocks []document.Block) {
	var pairs document.Pairs
	add := func(name, value string) {
		if value != "" {
			pairs = append(pairs, document.Pair{Name: name, Value: value})
		}
	}
	are := func(title string) { // of what was added
		if pairs != nil {
			blocks = append(blocks, document.Heading{Level: 3, Text: title}, pairs)
		}
		pairs = nil
	}
	h, t := r.Host, r.Target
	add("Machine", h.Hostname)
	add("CPU", h.CPUModel)
	add("CPUs", cpuCounts(r))
	add("Topology", topology(h.Topology))
	if h.MemoryBytes > 0 {
		add("Memory", number.Short(number.Bytes(float64(h.MemoryBytes))))
	}
	if h.OS != "" { // else it is not known, as behind a URL
		add("System", strings.TrimSpace(h.OS+"/"+h.Arch+" "+h.Kernel))
	}
	add("cgroups", h.CgroupMode)
	are("Machine")
	add("Program", programWords(r))
	add("Copies the pods of", t.Object)
	add("Namespace", t.Namespace)
	add("Container", t.Container)
	add("Go version of the program", goVersion(t.GoVersion))
	add("Main module of the program", t.MainModule)
	add("Runtime variables", strings.Join(t.Environment, " "))
	add("Directory", t.Directory)
	add("CPUs of the target", t.Had().String())
	canaryEnvironment(r.Canary, add)
	queryPairs(r, add)
	are("Program")
	add("URL", t.URL)
	add("Load generator", generatorWords(r))
	if t.Kind == journal.KindServer {
		offeredPairs(r, add)
	}
	are("Load")
	add("Numbers", originWords(r.Origin))
	add("Date", r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	add("A trial", trialWords(r))
	add("Plan", planWords(r))
	add("Trials", howMany(r))
	add("procfit", strings.TrimSpace(r.Tool.Version+" ("+r.Tool.GoVersion+")"))
	are("Trials")
	return blocks
}

func offeredPairs(r *verdict.Result, add func(name, value string)) {
	l := r.Load
	if l.RatePerSecond != nil {
		add("Rate", number.PerSecond("req/s").Value(*l.RatePerSecond))
	} else if l.Command == "" && r.Plan.SLO == nil {
		of := phrase.If(r.Plan.GateAgainst || r.Spec.Command == "compare", "the slower version", "the default")
		part := "half" // of the capacity that the pilots found
		if l.RateShare > 0 {
			part = number.Percent(l.RateShare)
		}
		add("Rate", part+" of what "+of+" can sustain, found by the first trials")
	}
	add("CPUs of the load generator", l.Had().String())
	add("Load generator and target", whereLoadRan(r))
}

func canaryEnvironment(c *verdict.Canary, add func(name, value string)) {
	if c == nil {
		return
	}
	add("Service", phrase.And(phrase.Each(c.Services, func(s journal.Service) string {
		return fmt.Sprintf("%s (%s)", s.Name, phrase.Count(s.Endpoints, "endpoint"))
	})))
	add("Counted by", phrase.And(phrase.Each(c.Counting, journal.Counter.String)))
	for _, a := range c.Settings {
		limit, ran := "no CPU limit", cmp.Or(phrase.And(phrase.Each(a.Observed, strconv.Itoa)), "could not be read")
		if a.QuotaCPUs != nil {
			limit = "a CPU limit of " + number.CPUs(*a.QuotaCPUs)
		}
		add("GOMAXPROCS of "+a.Label, fmt.Sprintf("%s, in %s under %s", ran, phrase.Count(a.Replicas, "pod"), limit))
	}
}

func queryPairs(r *verdict.Result, add func(name, value string)) {
	var list []journal.Query
	prometheus := ""
	if c := r.Canary; c != nil {
		list, prometheus = c.Queries, c.Prometheus
	}
	if l := r.Live; l != nil {
		list, prometheus = l.Queries, l.Prometheus
	}
	for _, q := range list {
		add("Query "+q.Name, q.Text)
	}
	add("Prometheus", prometheus)
}

func whereLoadRan(r *verdict.Result) string {
	switch {
	case r.Load.Tunnelled():
		return "connected through the API server, which was measured too"
	case r.Load.Shared():
		return "on the same CPUs"
	case r.Load.OnTargetHost():
		return "on the same machine"
	case r.LoadHost != nil && r.LoadHost.Hostname != "":
		return "on different machines; the load generator on " + r.LoadHost.Hostname
	}
	return "on different machines"
}

func planWords(r *verdict.Result) string {
	p := r.Plan
	if c := r.Canary; c != nil {
		return fmt.Sprintf("%s, each setting next to a control: %d of %s", phrase.Count(len(c.Rounds), "round"), c.Slices, phrase.Count(c.Planned, "slice"))
	}
	if l := r.Live; l != nil {
		return fmt.Sprintf("%s in %s of random order, seed %d", phrase.Count(len(p.Settings), "value"), phrase.Count(l.Blocks, "block"), p.Seed)
	}
	if !p.Racing() {
		return fmt.Sprintf("%s in %s of random order, seed %d", phrase.Count(len(p.Settings), "setting"), phrase.Count(p.Blocks, "block"), p.Seed)
	}
	text := fmt.Sprintf("%s to choose from, until an answer is %s", phrase.Count(len(p.Settings), "setting"), p.Goal)
	if p.MaxTrials > 0 {
		text += ", at most " + phrase.Count(p.MaxTrials, "trial")
	}
	return text + fmt.Sprintf(", seed %d", p.Seed)
}

// howMany counts the pilots into the budget of a race, but not into the blocks of a grid. Those of a
// live experiment are its baseline.
func howMany(r *verdict.Result) string {
	ran, of, pilots := r.TrialsRun, strconv.Itoa(r.TrialsPlanned), ""
	if r.PilotsRun > 0 {
		pilots = fmt.Sprintf(" and %d %s", r.PilotsRun, phrase.If(r.Live != nil, "of the baseline", "to find the rate"))
	}
	if r.Plan.Racing() {
		ran, of = ran+r.PilotsRun, "at most "+of
		if r.PilotsRun > 0 {
			pilots = fmt.Sprintf(" (%d of them to find the rate)", r.PilotsRun)
		}
	}
	return fmt.Sprintf("%d%s run%s, %d invalid", ran, phrase.If(outOfTime(r), "", " of "+of), pilots, r.TrialsInvalid+r.PilotsInvalid)
}

func generatorWords(r *verdict.Result) string {
	l := r.Load
	if r.Target.Kind != "server" {
		return ""
	}
	if l.Command != "" {
		return l.Command
	}
	s := "built in, " + phrase.Count(l.Connections, "connection")
	if l.Streams > 1 {
		s += fmt.Sprintf(" of %d streams", l.Streams)
	}
	switch {
	case l.GRPC != nil:
		s += ", gRPC " + l.GRPC.Method
	case len(l.Requests) > 0:
		s += ", a mix: " + strings.Join(l.Requests, ", ")
	default:
		s += ", " + l.Method
	}
	if l.Pace != "" {
		s += ", randomly spaced in the latency phase (" + l.Pace + ")"
	}
	if l.BodyBytes > 0 {
		s += " with a body of " + strconv.Itoa(l.BodyBytes) + " bytes"
	}
	return s
}

func trialWords(r *verdict.Result) string {
	l, s := r.Load, number.Time().Short()
	batch := endsByItself(r.Target)
	if l.DurationSeconds <= 0 && !batch {
		return ""
	}
	var out string
	switch half := s.Number(l.DurationSeconds / 2); {
	case r.Canary != nil:
		out = s.Number(r.Canary.SliceSeconds) + " of the requests of the Service"
	case r.Live != nil:
		out = fmt.Sprintf("about %s of the program's own requests, after a burn-in of %s", s.Number(r.Live.SliceSeconds), s.Number(r.Live.BurnInSeconds))
	case batch && l.DurationSeconds > 0:
		out = "whole runs of the program, until they add up to " + s.Number(l.DurationSeconds)
	case batch:
		out = "one whole run of the program"
	case l.Command != "":
		out = s.Number(l.DurationSeconds) + " under the load command"
	case r.Plan.SLO != nil && l.OpenSecondsMax > 0:
		out = half + " or more of throughput phase, and of each rate that is tried"
	case r.Plan.SLO != nil:
		out = half + " of throughput phase, and of each rate that is tried"
	case l.OpenSecondsMax > 0:
		out = half + " or more of throughput phase and of latency phase"
	default:
		out = half + " of throughput phase and " + half + " of latency phase"
	}
	if l.WarmupSeconds > 0 {
		out += " after " + s.Number(l.WarmupSeconds) + " of warm-up"
	}
	if l.ErrorRatioMax > 0 && !batch {
		out += ", at most " + number.Ratio().Number(l.ErrorRatioMax) + " errors"
	}
	return out
}

// topology is the machine's sockets, cores and nodes of memory; empty where that is not known.
func topology(t *journal.Topology) string {
	if t == nil {
		return ""
	}
	parts := []string{phrase.Count(t.Sockets, "socket"), phrase.Count(t.Cores, "core")}
	if t.ThreadsPerCore > 1 {
		parts[1] += fmt.Sprintf(" of %d threads", t.ThreadsPerCore)
	}
	if len(t.Nodes) > 1 {
		parts = append(parts, phrase.Count(len(t.Nodes), "NUMA node")+" ("+nodeWords(t.Nodes)+")")
	}
	if len(t.PerformanceCPUs) > 0 {
		parts = append(parts, fmt.Sprintf("performance cores are CPUs %s, efficiency cores CPUs %s", t.PerformanceCPUs, t.EfficiencyCPUs))
	}
	if t.Governor != "" {
		parts = append(parts, "CPU governor "+t.Governor)
	}
	return phrase.Semicolons(parts)
}

// nodeWords are nodes of memory with their CPUs: "node0: 0-7; node1: 8-15".
func nodeWords(list []journal.Node) string {
	return phrase.Semicolons(phrase.Each(list, func(n journal.Node) string { return fmt.Sprintf("node%d: %s", n.ID, n.CPUs) }))
}

func cpuCounts(r *verdict.Result) string {
	h := r.Host
	s := strconv.Itoa(h.CPUs) + " online"
	if h.AffinityCPUs > 0 && h.AffinityCPUs != h.CPUs {
		s += fmt.Sprintf(", %d allowed by affinity", h.AffinityCPUs)
	}
	if h.EffectiveCPUs > 0 && h.EffectiveCPUs < float64(h.AffinityCPUs) {
		s += ", limited to " + shortNumber(h.EffectiveCPUs, number.Digits)
	}
	return s
}
