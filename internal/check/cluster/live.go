package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/container"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
)

// Live is what the exporter tells of the Go program in a container.
type Live struct {
	Procs     int    // 0: not known
	GoVersion string // "go1.26.8"
	SetBy     string // auto, env, code, unknown
	PID       int
	Rules     map[string]rule.Severity // that fire on it, there, each at its worst
}

// isSet reports whether the runtime's own value is not used.
func (l *Live) isSet() bool {
	return l != nil && l.Procs > 0 && slices.Contains([]rule.SetBy{rule.SetByEnv, rule.SetByCode, rule.SetByOutside}, rule.SetBy(l.SetBy))
}

const exporterLabel = "app.kubernetes.io/name=procfit-exporter"

// exporterPort is where it listens, unless its pod names another port "metrics".
const exporterPort = "9877"

const (
	infoMetric     = "procfit_process_info"
	findingsMetric = "procfit_process_findings"
	foundMetric    = "procfit_exporter_processes"
)

// notExported count the processes that may be Go programs and have no row.
var notExported = []string{foundMetric + "_dropped", foundMetric + "_filtered", foundMetric + "_unreadable"}

// liveSources are the labels of a GOMAXPROCS that was read from the process; any other is a guess.
var liveSources = []string{"symbol", "decoded"}

// live has the programs by the identity of their container in the runtime.
type live struct {
	mu       sync.Mutex
	programs map[string]*Live
	nodes    map[string]time.Time // whose Go programs were all among them, and when
	problems []string
}

func exporters(ctx context.Context, client *Client) (*live, error) {
	l := &live{programs: map[string]*Live{}, nodes: map[string]time.Time{}}
	var pods []core.Pod
	err := pages(ctx, func() { pods = nil }, func(ctx context.Context, o meta.ListOptions) (string, error) {
		o.LabelSelector = exporterLabel
		o.Limit, o.ResourceVersion = 0, "0" // from the server's memory; they are few among many
		var list core.PodList
		if err := client.list(ctx, "", "pods", o, &list); err != nil {
			return "", err
		}
		for _, p := range list.Items {
			if p.Status.Phase == core.PodRunning {
				pods = append(pods, p)
			}
		}
		return list.Continue, nil
	})
	if err != nil {
		return nil, err
	}
	check.AtOnce(requestsAtOnce, pods, func(_ int, p core.Pod) { l.scrape(ctx, client, p) })
	slices.Sort(l.problems)
	return l, ctx.Err()
}

func (l *live) scrape(ctx context.Context, client *Client, p core.Pod) {
	port := exporterPort
	for _, c := range p.Spec.Containers {
		for _, named := range c.Ports {
			if named.Name == "metrics" {
				port = strconv.Itoa(int(named.ContainerPort))
			}
		}
	}
	at := time.Now()
	answer, err := client.Core.Get().Namespace(p.Namespace).Resource("pods").SubResource("proxy").Name(p.Name + ":" + port).Suffix("metrics").Stream(ctx)
	var programs map[string]*Live
	whole := false
	if err == nil {
		programs, whole, err = readMetrics(answer)
		answer.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.problems = append(l.problems, fmt.Sprintf("node %s: %v", p.Spec.NodeName, explain("the exporter "+p.Namespace+"/"+p.Name, err)))
		return
	}
	if whole {
		l.nodes[p.Spec.NodeName] = at
	}
	maps.Copy(l.programs, programs)
}

// mostMetrics is how many bytes an exporter may answer with: any pod may have its label.
const mostMetrics = 64 << 20

// readMetrics has the programs by the last part of their cgroup, in which every runtime writes the
// container's identity. whole: a container that is not in it runs no Go program.
func readMetrics(r io.Reader) (all map[string]*Live, whole bool, err error) {
	bounded := &io.LimitedReader{R: r, N: mostMetrics}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bounded)
	if bounded.N <= 0 {
		err = fmt.Errorf("the answer has more than %s", number.Short(number.Bytes(mostMetrics)))
	}
	if err != nil {
		return nil, false, fmt.Errorf("no metrics: %w", err)
	}
	all, byPID := map[string]*Live{}, map[string]*Live{}
	whole = families[foundMetric] != nil
	for _, name := range notExported {
		whole = whole && families[name] != nil
		for _, m := range families[name].GetMetric() {
			whole = whole && m.Gauge != nil && m.Gauge.GetValue() == 0
		}
	}
	for _, m := range families[infoMetric].GetMetric() {
		labels := labelsOf(m)
		id := container.ID(labels["cgroup"])
		whole = whole && (id != "" || !inPod(labels["cgroup"]))
		pid, _ := strconv.Atoi(labels["pid"])
		if id == "" || all[id] != nil && all[id].PID < pid {
			continue
		}
		one := &Live{GoVersion: labels["go_version"], SetBy: labels["set_by"], PID: pid, Rules: map[string]rule.Severity{}}
		if slices.Contains(liveSources, labels["procs_source"]) {
			one.Procs, _ = strconv.Atoi(labels["gomaxprocs"])
		}
		if !strings.HasPrefix(one.GoVersion, "go") {
			one.GoVersion = ""
		}
		all[id] = one
		byPID[labels["pid"]] = one
	}
	for _, m := range families[findingsMetric].GetMetric() {
		labels := labelsOf(m)
		one, severity := byPID[labels["pid"]], rule.Severity(labels["severity"])
		if one == nil {
			continue
		}
		if severity.Rank() < 0 {
			r, _ := rule.Find(labels["rule"])
			severity = r.Severity
		}
		if before, again := one.Rules[labels["rule"]]; !again || severity.Rank() < before.Rank() {
			one.Rules[labels["rule"]] = severity
		}
	}
	return all, whole, nil
}

// inPod: a cgroup that is not known may be a pod's, and so may one that an exporter sees from a
// cgroup namespace of its own, unless it is a service of the node.
func inPod(cgroup string) bool {
	return cgroup == "" || strings.Contains(cgroup, "kubepods") || strings.HasPrefix(cgroup, "/..") && !strings.HasSuffix(cgroup, ".service")
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, l := range m.Label {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}

func (l *live) of(p *core.Pod) seen {
	s := seen{programs: map[string]*Live{}, whole: l.nodes[p.Spec.NodeName]}
	for _, list := range [][]core.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for _, status := range list {
			if one := l.programs[container.ID(status.ContainerID)]; one != nil {
				// Not its number: pods that differ in nothing else are the same.
				s.programs[status.Name] = &Live{Procs: one.Procs, GoVersion: one.GoVersion, SetBy: one.SetBy, Rules: one.Rules}
			}
		}
	}
	return s
}
