package lab

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// answers checks that a server of the given id, found at the address, does the
// work that its document describes.
func answers(t *testing.T, id, addr string) {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	post := func(body []byte) []byte {
		resp, err := client.Post("http://"+addr+"/", "application/octet-stream", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", id, resp.Status, err)
		}
		return b
	}
	switch id {
	case "cpuserver":
		want := sha256.Sum256(make([]byte, 64*4096))
		if got := post(nil); !bytes.Equal(got, want[:]) {
			t.Errorf("cpuserver answers %x, want %x", got, want)
		}
	case "tinyserver":
		for _, sent := range []int{0, 100, 4096, 10_000} {
			body := bytes.Repeat([]byte{'x'}, sent)
			sum := sha256.Sum256(bytes.Repeat(body[:min(sent, 4096)], 32))
			start := time.Now()
			if got, want := string(post(body)), hex.EncodeToString(sum[:]); got != want {
				t.Errorf("tinyserver answers %d bytes with %s, want %s", sent, got, want)
			}
			if took := time.Since(start); took < 2*time.Millisecond {
				t.Errorf("tinyserver answered in %v, want at least 2ms", took)
			}
		}
	default:
		t.Fatalf("no test of what %s answers", id)
	}
}

var startLine = regexp.MustCompile(`(\w+): GOMAXPROCS=(\d+) NumCPU=(\d+) Version=(\S+) Addr=(\S+)`)

// started waits for a server's first line.
func started(t *testing.T, r io.Reader) []string {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("no first line: %q, %v", line, err)
	}
	m := startLine.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("first line %q", line)
	}
	return m
}

func TestServe(t *testing.T) {
	for _, e := range List() {
		t.Run(e.ID, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			r, w := io.Pipe()
			done := make(chan error, 1)
			go func() {
				err := Serve(ctx, e.ID, "127.0.0.1:0", w)
				w.CloseWithError(err)
				done <- err
			}()
			m := started(t, r)
			if m[1] != e.ID || m[4] != runtime.Version() {
				t.Errorf("first line is of %s and %s, want %s and %s", m[1], m[4], e.ID, runtime.Version())
			}
			answers(t, e.ID, m[5])
			// The port is taken now, and the error says so.
			if err := Serve(ctx, e.ID, m[5], io.Discard); err == nil || !strings.Contains(err.Error(), m[5]) {
				t.Errorf("a port in use: %v", err)
			}
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("after its context ended: %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("still serving 10s after its context ended")
			}
		})
	}
}

// TestSource builds what Source gives as a user would, outside of the
// workspace, and talks to it.
func TestSource(t *testing.T) {
	for _, e := range List() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			source, err := Source(e.ID)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module "+e.ID+"\n\ngo 1.21\n")
			write(t, filepath.Join(dir, "main.go"), source)
			for _, args := range [][]string{{"vet", "."}, {"build", "-o", "server", "."}} {
				cmd := exec.Command("go", args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("go %v: %v\n%s", args, err, out)
				}
			}
			cmd := exec.Command(filepath.Join(dir, "server"), "-addr", "127.0.0.1:0")
			cmd.Env = append(os.Environ(), "GOMAXPROCS=3")
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			m := started(t, stderr)
			if m[2] != "3" {
				t.Errorf("it runs with GOMAXPROCS=%s, its environment says 3", m[2])
			}
			answers(t, e.ID, m[5])
			if runtime.GOOS == "windows" {
				return // no SIGTERM there
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("after SIGTERM: %v, want a clean exit", err)
			}
		})
	}
}

func TestSourceDiffersInOneWord(t *testing.T) {
	for _, e := range List() {
		source, err := Source(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		here, err := os.ReadFile(filepath.Join("programs", e.ID, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(string(here), "package "+e.ID, "package main", 1); source != want || source == string(here) {
			t.Errorf("%s: more or less than the package's name differs:\n%s", e.ID, source)
		}
	}
	if _, err := standalone("package x\n", "y"); err == nil {
		t.Error("a source of another package is transformed without an error")
	}
}

func TestUnknown(t *testing.T) {
	for id, want := range map[string]string{
		"cpusever":    `no practice program "cpusever": did you mean cpuserver`,
		"CPUServer":   `no practice program "CPUServer": did you mean cpuserver`,
		"server":      `no practice program "server": did you mean cpuserver, tinyserver`,
		"database":    `no practice program "database": there are cpuserver, tinyserver`,
		"":            `no practice program "": there are cpuserver, tinyserver`,
		"../lab":      `no practice program "../lab": there are cpuserver, tinyserver`,
		"tinyserver ": `no practice program "tinyserver ": did you mean tinyserver`,
	} {
		_, sourceErr := Source(id)
		for _, err := range []error{sourceErr, Serve(context.Background(), id, "127.0.0.1:0", io.Discard)} {
			var unknown *UnknownError
			if !errors.As(err, &unknown) || err.Error() != want {
				t.Errorf("%q: %v, want %s", id, err, want)
			}
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"ab", "ba", 2}} {
		if got := distance(tc.a, tc.b); got != tc.want {
			t.Errorf("%q, %q: got %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
