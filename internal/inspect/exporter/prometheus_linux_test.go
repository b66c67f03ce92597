package exporter

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// server is a real Prometheus.
type server struct{ url string }

// startPrometheus runs one with the example's configuration and rules; scrapes come
// four times a second, from the target.
func startPrometheus(t *testing.T, target string) server {
	t.Helper()
	path := need.Command(t, "prometheus")
	dir := t.TempDir()
	config := must.Read(t, "../../../deploy/prometheus/prometheus.yaml")
	for from, to := range map[string]string{
		"scrape_interval: 15s":     "scrape_interval: 250ms",
		"evaluation_interval: 15s": "evaluation_interval: 500ms",
		`["localhost:9877"]`:       `["` + target + `"]`,
	} {
		if !strings.Contains(config, from) {
			t.Fatalf("the example configuration has no %s", from)
		}
		config = strings.Replace(config, from, to, 1)
	}
	must.Write(t, filepath.Join(dir, "prometheus.yaml"), config)
	must.Write(t, filepath.Join(dir, "alerts.yaml"), must.Read(t, alertsFile))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := l.Addr().String()
	l.Close()
	log := must.Get(os.Create(filepath.Join(dir, "log")))(t)
	cmd := exec.Command(path, "--config.file="+dir+"/prometheus.yaml", "--storage.tsdb.path="+dir+"/data", "--web.listen-address="+addr)
	cmd.Stdout, cmd.Stderr = log, log
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		log.Close()
		if t.Failed() {
			t.Logf("Prometheus says:\n%s", must.Read(t, log.Name()))
		}
	})
	s := server{"http://" + addr}
	eventually(t, "Prometheus is ready", func() string {
		r, err := http.Get(s.url + "/-/ready")
		if err != nil {
			return err.Error()
		}
		r.Body.Close()
		if r.StatusCode != 200 {
			return r.Status
		}
		return ""
	})
	return s
}

// eventually waits until wrong says nothing.
func eventually(t *testing.T, what string, wrong func() string) {
	t.Helper()
	problem, began := "", time.Now()
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if problem = wrong(); problem == "" {
			t.Logf("after %v: %s", time.Since(began).Round(time.Millisecond), what)
			return
		}
	}
	t.Fatalf("not within 40 s: %s: %s", what, problem)
}

// get asks the API for the data of an answer.
func (s server) get(path string, data any, query ...string) error {
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	r, err := http.Get(s.url + "/api/v1/" + path + "?" + values.Encode())
	if err != nil {
		return err
	}
	defer r.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", answer.Status, answer.Error)
	}
	return nil
}

// sample is one of a vector.
type sample struct {
	Metric map[string]string
	Value  [2]any // time, value
}

func (s server) query(expr string) ([]sample, error) {
	var data struct{ Result []sample }
	err := s.get("query", &data, "query", expr)
	return data.Result, err
}

// value is the one sample of a query.
func (s server) value(expr string) (float64, error) {
	samples, err := s.query(expr)
	if err != nil {
		return 0, err
	}
	if len(samples) != 1 {
		return 0, fmt.Errorf("%s: %d samples", expr, len(samples))
	}
	return strconv.ParseFloat(fmt.Sprint(samples[0].Value[1]), 64)
}

// throttle runs the probe, busy with more Ps than the limit of its cgroup, and
// returns its PID.
func throttle(t *testing.T, name string, procs int, quota float64) int {
	t.Helper()
	need.Root(t)
	parent, err := cgroup.Find()
	if err != nil {
		need.Skip(t, err.Error())
	}
	group := must.Get(parent.New())(t)
	t.Cleanup(func() {
		if err := group.Kill(); err != nil {
			t.Error(err)
		}
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	})
	must.OK(t, group.SetQuota(quota))
	path := filepath.Join(t.TempDir(), name)
	probe(t, path)
	cmd := exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, group.ProcsFile(), path, strconv.Itoa(procs))
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	must.Get(cmd.StdinPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// TestPrometheus has a real Prometheus scrape a real exporter of a process with 4
// Ps that is throttled at 0.3 CPUs.
func TestPrometheus(t *testing.T) {
	need.Everything(t, "a Prometheus gathers series for a quarter of a minute; promtool and the other tests read what it reads")
	need.Command(t, "prometheus")
	// So little that it is throttled also where 20 other threads want the two CPUs.
	pid := throttle(t, "pf-throttled", 4, 0.1)
	crowd(t, "pf-idle", 3)
	s := startPrometheus(t, strings.TrimSuffix(strings.TrimPrefix(start(t).url, "http://"), "/metrics"))

	process := fmt.Sprintf(`{job="procfit", pid="%d", name="pf-throttled"}`, pid)
	is := func(expr string, low, high float64) {
		t.Helper()
		eventually(t, expr, func() string {
			v, err := s.value(expr)
			if err != nil {
				return err.Error()
			}
			if v < low || v > high {
				return fmt.Sprintf("%v is not in %v to %v", v, low, high)
			}
			return ""
		})
	}
	is("procfit_process_gomaxprocs"+process, 4, 4)
	is("procfit_process_gomaxprocs_recommended"+process, 1, 1)
	is("procfit_process_limit_cpus"+process, 0.1, 0.1)
	is(`count(procfit_process_gomaxprocs{name="pf-idle"} == 1)`, 3, 3)
	is(`count(procfit_process_info{name="pf-throttled", gomaxprocs="4", set_by="env", procs_source=~"symbol|decoded"})`, 1, 1)
	is("rate(procfit_process_cpu_seconds_total"+process+"[4s])", 0.03, 0.2)
	is("procfit:process_throttled_periods:ratio_rate5m"+process, 0.05, 1)
	is(`procfit_process_findings{name="pf-throttled", rule="PF011"}`, 1, 1)
	for _, f := range families {
		if f.Type == "counter" && strings.HasPrefix(f.Name, "procfit_process_") {
			is("max(resets("+f.Name+"[1m]))", 0, 0)
		}
	}

	t.Run("rules", func(t *testing.T) { checkRules(t, s) })
	t.Run("dashboard", func(t *testing.T) { checkDashboard(t, s) })
}

// checkRules wants all rules to be evaluated without an error, and the alert to
// be on its way.
func checkRules(t *testing.T, s server) {
	eventually(t, "rules", func() string {
		var data struct {
			Groups []struct {
				Rules []struct {
					Name, Type, Health, LastError string
					Alerts                        []struct {
						State  string
						Labels map[string]string
					}
				}
			}
		}
		if err := s.get("rules", &data); err != nil {
			return err.Error()
		}
		states := map[string]string{}
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health != "ok" {
					return r.Name + ": " + r.Health + " " + r.LastError
				}
				states[r.Name] = "inactive"
				for _, a := range r.Alerts {
					if name := a.Labels["name"]; name == "" || strings.HasPrefix(name, "pf-") { // others of this machine have faults of their own
						states[r.Name] = a.State
					}
				}
			}
		}
		if text := must.Read(t, alertsFile); len(states) != strings.Count(text, "- alert: ")+strings.Count(text, "- record: ") {
			return fmt.Sprintf("%d rules", len(states))
		}
		for name, want := range map[string]string{
			"ProcfitThrottledByTooManyProcs": "pending", "ProcfitGomaxprocsAboveRecommended": "pending",
			"ProcfitThrottledWithFittingProcs": "inactive", "ProcfitEnvIgnored": "inactive", "ProcfitExporterDown": "inactive",
		} {
			if states[name] != want {
				return fmt.Sprintf("%s is %q, want %s", name, states[name], want)
			}
		}
		return ""
	})
}

// checkDashboard runs each expression of the dashboard as Grafana would, and wants
// data of each.
func checkDashboard(t *testing.T, s server) {
	fill := strings.NewReplacer("$__rate_interval", "5s", "$job", "procfit", "$instance", ".*", "$name", "pf-.*")
	d := readDashboard(t, dashboardFile)
	for where, expr := range d.expressions() {
		expr = fill.Replace(expr)
		eventually(t, where+": "+expr, func() string {
			samples, err := s.query(expr)
			switch {
			case err != nil:
				return err.Error()
			case len(samples) == 0:
				return "no data"
			case strings.Contains(expr, "by (gomaxprocs") && samples[0].Metric["gomaxprocs"] == "":
				return fmt.Sprint("by no GOMAXPROCS: ", samples[0].Metric)
			}
			return ""
		})
	}
	for _, v := range d.Templating.List {
		call, ok := strings.CutPrefix(v.Definition, "label_values(")
		if !ok {
			continue
		}
		i := strings.LastIndex(call, ", ")
		series, label := fill.Replace(call[:i]), strings.TrimSuffix(call[i+2:], ")")
		var values []string
		if err := s.get("label/"+label+"/values", &values, "match[]", series); err != nil || len(values) == 0 {
			t.Errorf("variable %s: %v, %v", v.Name, values, err)
		}
	}
}
