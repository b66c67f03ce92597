//go:build !portable && (amd64 || arm64)

package steer

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestSoftware calls into servers as Debian builds them, with Go 1.19, under load.
func TestSoftware(t *testing.T) {
	beyond(t)
	for _, of := range []struct {
		name, path string
		args       func(dir, port, second string) []string
	}{
		{"caddy", "/", func(dir, port, _ string) []string {
			return []string{"respond", "--listen", "127.0.0.1:" + port, "--body", "procfit"}
		}},
		{"etcd", "/version", func(dir, port, second string) []string {
			client, peer := "http://127.0.0.1:"+port, "http://127.0.0.1:"+second
			return []string{"--data-dir", dir, "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer}
		}},
		{"prometheus", "/api/v1/query?query=vector(1)", func(dir, port, _ string) []string {
			file := filepath.Join(dir, "prometheus.yml")
			text := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: self\n  static_configs:\n  - targets: ['127.0.0.1:%s']\n", port)
			must.OK(t, os.WriteFile(file, []byte(text), 0o600))
			return []string{"--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:" + port}
		}},
		{"nats-server", "/varz", func(dir, port, second string) []string {
			return []string{"-a", "127.0.0.1", "-p", second, "-m", port, "-js", "-sd", dir}
		}},
	} {
		tallied(t, of.name, "", func(t *testing.T) tally {
			path := need.Command(t, of.name)
			dir, port := t.TempDir(), freePort(t)
			x := &target{t: t, cmd: exec.Command(path, of.args(dir, port, freePort(t))...), ended: make(chan struct{}), url: "http://127.0.0.1:" + port + of.path}
			x.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			x.cmd.Stderr = &x.said
			must.OK(t, x.cmd.Start())
			x.untilTheEnd()
			must.Until(t, "answering", func() bool {
				if !x.alive() {
					t.FailNow()
				}
				_, err := get(clientOf(time.Second), x.url)
				return err == nil
			})
			x.foreign = true
			y := x.calls(*callsFlag)
			if strings.Contains(x.said.String(), "panic:") {
				t.Error(tail(x.said.String()))
			}
			return y
		})
	}
}

// TestKubelet calls into a kubelet while it is asked for its pods.
func TestKubelet(t *testing.T) {
	beyond(t)
	if missing := cluster.Missing(); missing != "" {
		need.Skip(t, missing)
	}
	tallied(t, "kubelet", "", func(t *testing.T) tally {
		c := must.Get(cluster.Start(t.Context(), cluster.Options{Log: os.Stderr}))(t)
		t.Cleanup(func() {
			if err := c.Stop(); err != nil {
				t.Error(err)
			}
		})
		pid := kubeletOf(t, c)
		process := must.Get(os.FindProcess(pid))(t)
		x := &target{t: t, cmd: &exec.Cmd{Process: process}, ended: make(chan struct{}), foreign: true, url: strings.TrimSuffix(c.Server, ":6443") + ":10250/pods"}
		program, err := Identify(pid)
		must.OK(t, err)
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		go func() { // it is no child of this process
			for program.same() == nil {
				select {
				case <-over:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
			close(x.ended)
		}()
		return x.callsUnder(*callsFlag, send(8, 0, func() (func() error, func()) {
			insecure := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			return func() error { _, err := get(insecure, x.url); return err }, insecure.CloseIdleConnections
		}))
	})
}

// kubeletOf is the process of the first node's kubelet.
func kubeletOf(t *testing.T, c *cluster.Cluster) int {
	t.Helper()
	lines := must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, file := range lines {
		b, _ := os.ReadFile(file) // else it has ended
		words := strings.Split(string(b), "\x00")
		if filepath.Base(words[0]) == "kubelet" && slices.Contains(words, filepath.Join(c.Dir, "node1", "kubelet")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	t.Fatalf("no process is the kubelet of %s", c.Dir)
	return 0
}

// freePort is a port that nobody listened on a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	must.OK(t, err)
	return port
}
