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
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// answers checks that a server of the given id, found at the address, does the
// work that its document describes.
func answers(t *testing.T, id, addr string) {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	post := func(body []byte) []byte {
		resp := must.Get(client.Post("http://"+addr+"/", "application/octet-stream", bytes.NewReader(body)))(t)
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
	case "spin":
		want := sha256.Sum256(make([]byte, 8*4096))
		if got := post(nil); !bytes.Equal(got, want[:]) {
			t.Errorf("spin answers %x, want %x", got, want)
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
	case "k8sbench":
		for query, want := range map[string]string{
			"n=0": "0.000\n", "n=1": "21097.456\n", // the sum of the first 1000 square roots
			"n=-1": "n=\"-1\": expected a number from 0 to 200000\n", "n=200001": "expected a number", "": "expected a number", "n=x": "expected a number",
		} {
			resp := must.Get(client.Get("http://" + addr + "/cpu?" + query))(t)
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if ok := resp.StatusCode == http.StatusOK; err != nil || !strings.Contains(string(body), want) || ok == strings.Contains(want, "expected") {
				t.Errorf("k8sbench answers %q with %s, %q, %v, want %q", query, resp.Status, body, err, want)
			}
		}
	case "requests":
		for sent, want := range map[string]string{
			`{"items":[{"name":"a","count":2,"cents":150},{"name":"b","count":1,"cents":9}]}`: `"total_cents":309}`, "": `"total_cents":59200}`, // of a hundred items
		} {
			if got := string(post([]byte(sent))); !strings.HasSuffix(got, want) {
				t.Errorf("requests answers %q with %.200s, want …%s", sent, got, want)
			}
		}
		resp := must.Get(client.Post("http://"+addr+"/", "application/json", strings.NewReader("{")))(t)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "not valid JSON") {
			t.Errorf("requests answers what is not JSON with %s, %q, %v", resp.Status, body, err)
		}
	case "uber":
		for _, sent := range []int{0, 1, 100_000, 5, 6, 7} {
			body := bytes.Repeat([]byte{'u'}, sent)
			if got := post(body); !bytes.Equal(got, body) {
				t.Errorf("uber answers %d bytes with %d others", sent, len(got))
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
	for _, e := range of(Server) {
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

// A program stands alone: its own text, and of the harness what it uses.
func TestSourceAlone(t *testing.T) {
	for _, e := range of(Server, Batch) {
		source := must.Get(Source(e.ID))(t)
		here := must.Read(t, filepath.Join("programs", e.ID, "main.go"))
		_, body, _ := strings.Cut(here, harnessPath+"\n") // what follows the last import
		if len(body) < 50 || !strings.Contains(source, strings.ReplaceAll(body, "harness.", "")) || !strings.Contains(source, "\npackage main\n") || strings.Contains(source, "procfit/internal") {
			t.Errorf("%s: another text than its own:\n%s", e.ID, source)
		}
		if n := strings.Count(source, "func Run("); n != 1 || strings.Contains(source, `"net/http"`) != (e.Kind == Server || slices.Contains([]string{"http", "idle", "iobound"}, e.ID)) {
			t.Errorf("%s: more or less than it uses of the harness:\n%s", e.ID, source)
		}
	}
	if other, err := Source("blocking/c"); err != nil || !strings.Contains(other, `import "C"`) {
		t.Errorf("the other program: %v: %s", err, other)
	}
	for _, id := range []string{"blocking/d", "blocking/", "blocking/../racy", "chain/c"} {
		if _, err := Source(id); err == nil {
			t.Errorf("%s has a source", id)
		}
	}
	if _, err := standalone("package\n"); err == nil {
		t.Error("what is no program is printed without an error")
	}
}

func TestUnknown(t *testing.T) {
	all, servers := ids(of(Server, Batch)), ids(of(Server))
	for id, want := range map[string]string{
		"cpusever":    `no practice program "cpusever": did you mean cpuserver`,
		"CPUServer":   `no practice program "CPUServer": did you mean cpuserver`,
		"server":      `no practice program "server": did you mean cpuserver, tinyserver`,
		"database":    `no practice program "database": there are ` + all,
		"":            `no practice program "": there are ` + all,
		"../lab":      `no practice program "../lab": there are ` + all,
		"tinyserver ": `no practice program "tinyserver ": did you mean tinyserver`,
		"build":       `no practice program "build", which is a command: there are ` + all,
	} {
		_, err := Source(id)
		isUnknown(t, id, err, want)
	}
	_, err := Run("cpuserver", nil, io.Discard, io.Discard)
	isUnknown(t, "cpuserver", err, `no practice program "cpuserver", which is a server: there are `+ids(of(Batch)))
	err = Serve(context.Background(), "chain", "127.0.0.1:0", io.Discard)
	isUnknown(t, "chain", err, `no practice server "chain", which is a batch: there are `+servers)
	err = Serve(context.Background(), "cpusever", "127.0.0.1:0", io.Discard)
	isUnknown(t, "cpusever", err, `no practice server "cpusever": did you mean cpuserver`)
}

func isUnknown(t *testing.T, id string, err error, want string) {
	t.Helper()
	var unknown *UnknownError
	if !errors.As(err, &unknown) || err.Error() != want {
		t.Errorf("%q: %v, want %s", id, err, want)
	}
}

func of(kinds ...Kind) (list []Experiment) {
	for _, e := range List() {
		if slices.Contains(kinds, e.Kind) {
			list = append(list, e)
		}
	}
	return list
}

func ids(list []Experiment) string {
	var names []string
	for _, e := range list {
		names = append(names, e.ID)
	}
	return strings.Join(names, ", ")
}

// All that the documents describe, each with what it takes to run it, and no
// program as well.
func TestList(t *testing.T) {
	const want = "cpuserver, tinyserver, parallel, workload, cpubound, iobound, contention, preempt, stealing, schedtrace, " +
		"chain, chainbuf, sieve, powser, handoff, build, garbage, http, json, threads, busyworker, k8sbench, defaults, uber, " +
		"headroom, idle, extremes, gc, blocking, tenants, racy, remedies, spin, requests"
	if got := ids(List()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, e := range List() {
		if e.Title == "" || e.Document == "" || (e.service != nil) != (e.Kind == Server) || (e.program != nil) != (e.Kind == Batch) || (e.Language == "") != (e.Kind == Command) {
			t.Errorf("%+v", e)
		}
	}
	here, err := filepath.Glob("programs/*/main.go")
	if err != nil || len(here) != len(of(Server, Batch)) {
		t.Errorf("%d programs lie here, %v, and %d are listed", len(here), err, len(of(Server, Batch)))
	}
}
