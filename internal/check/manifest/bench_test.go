package manifest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/test/must"
)

// manyManifests is a folder of deployments of a realistic size, some 3 kB each.
func manyManifests(t testing.TB, n int) string {
	dir := t.TempDir()
	for i := range n {
		file := filepath.Join(dir, fmt.Sprintf("team%02d", i%50), fmt.Sprintf("app%05d.yaml", i))
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.OK(t, os.WriteFile(file, []byte(realistic(i)), 0o644))
	}
	return dir
}

func realistic(i int) string {
	env := ""
	for v := range 12 {
		env += fmt.Sprintf("            - name: SETTING_%d\n              value: \"value %d of application %d\"\n", v, v, i)
	}
	procs := ""
	switch i % 4 {
	case 0:
		procs = "            - name: GOMAXPROCS\n              valueFrom:\n                resourceFieldRef:\n                  resource: limits.cpu\n"
	case 1:
		procs = "            - name: GOMAXPROCS\n              value: \"2\"\n"
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: app%[1]d
  labels: {app: app%[1]d, team: team%[2]d}
spec:
  selector: {app: app%[1]d}
  ports:
    - {name: http, port: 80, targetPort: 8080}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app%[1]d
  labels: {app: app%[1]d, team: team%[2]d}
spec:
  replicas: 3
  selector:
    matchLabels: {app: app%[1]d}
  template:
    metadata:
      labels: {app: app%[1]d, team: team%[2]d}
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: "8080"
    spec:
      serviceAccountName: app%[1]d
      securityContext: {runAsNonRoot: true, runAsUser: 1000}
      containers:
        - name: app
          image: registry.example.org/team%[2]d/app%[1]d:1.2.3
          ports:
            - {name: http, containerPort: 8080}
          env:
%[3]s%[4]s          resources:
            requests: {cpu: 250m, memory: 256Mi}
            limits: {cpu: 2, memory: 512Mi}
          livenessProbe:
            httpGet: {path: /live, port: http}
            initialDelaySeconds: 5
            periodSeconds: 10
          readinessProbe:
            httpGet: {path: /ready, port: http}
          volumeMounts:
            - {name: config, mountPath: /etc/app}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - name: config
          configMap: {name: app%[1]d}
        - name: tmp
          emptyDir: {}
`, i, i%50, env, procs)
}

// BenchmarkManifests reads ten thousand files. It reports the largest heap also.
func BenchmarkManifests(b *testing.B) {
	dir := manyManifests(b, 10_000)
	for b.Loop() {
		peak, stop := watchHeap()
		r, err := check.Run(context.Background(), check.Options{Paths: []string{dir}, Checkers: []check.Checker{New(Options{})}})
		stop()
		if err != nil || r.Files != 10_000 || len(r.Problems) > 0 || len(r.Findings) == 0 {
			b.Fatal(err, r.Files, len(r.Problems), len(r.Findings))
		}
		b.ReportMetric(float64(peak.Load())/(1<<20), "MiB-peak")
	}
}

func watchHeap() (peak *atomic.Uint64, stop func()) {
	peak = new(atomic.Uint64)
	done := make(chan struct{})
	go func() {
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.Sys-m.HeapReleased))
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return peak, func() { close(done) }
}
