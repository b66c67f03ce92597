//go:build !portable && (amd64 || arm64)

package steer

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:" + port}
		}},
		{"nats-server", "/varz", func(dir, port, second string) []string {
			return []string{"-a", "127.0.0.1", "-p", second, "-m", port, "-js", "-sd", dir}
		}},
	} {
		t.Run(of.name, func(t *testing.T) {
			path := need.Command(t, of.name)
			dir, port := t.TempDir(), freePort(t)
			x := &target{t: t, cmd: exec.Command(path, of.args(dir, port, freePort(t))...), ended: make(chan struct{}), url: "http://127.0.0.1:" + port + of.path}
			x.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			x.cmd.Stderr = &x.said
			if err := x.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() {
				_ = x.cmd.Wait()
				close(x.ended)
			}()
			t.Cleanup(func() {
				_ = x.cmd.Process.Kill()
				<-x.ended
			})
			for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
				if _, err := get(clientOf(time.Second), x.url); err == nil {
					break
				} else if time.Now().After(end) || !x.alive() {
					t.Fatalf("%v\n%s", err, tail(x.said.String()))
				}
			}
			x.foreign = true
			x.calls(*callsFlag)
			if strings.Contains(x.said.String(), "panic:") {
				t.Error(tail(x.said.String()))
			}
		})
	}
}

// freePort is a port that nobody listened on a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
