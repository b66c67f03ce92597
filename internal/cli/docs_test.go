package cli

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check/binary/binarytest"
	"github.com/procfit/procfit/internal/cli/scripts"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/loadtest"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/must"
)

// prompt begins the lines of the documentation that a reader may type.
var prompt = regexp.MustCompile(`(?m)^\s*\$ ((?:procfit|go run \./cmd/procfit) .*(?:\\\n.*)*)$`)

// TestOldestGo: every Go that README.md names builds procfit in a clone, also one that may not
// download a newer one.
func TestOldestGo(t *testing.T) {
	named := regexp.MustCompile(`need Go (1\.[0-9]+) or newer`).FindStringSubmatch(must.Read(t, "../../README.md"))
	if named == nil {
		t.Fatal("README.md names no Go")
	}
	for _, file := range []string{"../../go.mod", "../../go.work"} {
		if line := regexp.MustCompile(`(?m)^go .*`).FindString(must.Read(t, file)); line != "go "+named[1]+".0" {
			t.Errorf("%s: %s, and README.md names %s", file, line, named[1])
		}
	}
}

// TestTroubleshootingQuotes: what a heading quotes is printed, so that a reader finds it.
func TestTroubleshootingQuotes(t *testing.T) {
	var source strings.Builder
	for _, dir := range []string{"../measure", "../verdict"} {
		must.OK(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				source.WriteString(must.Read(t, name))
			}
			return err
		}))
	}
	headings := regexp.MustCompile(`(?m)^## .*"(.+)"$`).FindAllStringSubmatch(must.Read(t, "../../docs/how-to/troubleshooting.md"), -1)
	for _, h := range headings {
		printed := regexp.MustCompile(`[0-9]+`).ReplaceAllString(regexp.QuoteMeta(h[1]), "(%[a-z]|[0-9]+)")
		if !regexp.MustCompile(printed).MatchString(source.String()) {
			t.Errorf("nothing prints %q", h[1])
		}
	}
	if len(headings) < 6 {
		t.Errorf("only %d headings quote what is printed", len(headings))
	}
}

// TestDocumentedCommands runs every procfit command that the documents and the
// help show: sweeps as --dry-run, the rest in full, in a directory where the
// programs that they name exist.
func TestDocumentedCommands(t *testing.T) {
	commands := map[string]string{}
	for _, p := range readPages(t) {
		if slices.Contains(transcripts, p.file) {
			continue // TestTranscripts runs it
		}
		for _, m := range prompt.FindAllStringSubmatch(p.text, -1) {
			commands[strings.ReplaceAll(m[1], "\\\n", " ")] = p.file
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			commands[strings.TrimSpace(line)] = c.CommandPath() + " --help"
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(stdio{}))
	if len(commands) < 12 {
		t.Errorf("only %d commands found: is the pattern right?", len(commands))
	}
	there := examples(t)
	for command, where := range commands {
		t.Run(command, func(t *testing.T) { runDocumented(t, command, where, there) })
	}
}

// TestTimeOfTheReadme: the README's time of a first sweep is that of its plan, in whole minutes.
func TestTimeOfTheReadme(t *testing.T) {
	if n := runtime.NumCPU(); n != 2 {
		t.Skipf("the README has the time of two CPUs, and not of %d", n)
	}
	named := regexp.MustCompile(`on two CPUs at most ([0-9]+) minutes`).FindStringSubmatch(must.Read(t, "../../README.md"))
	t.Chdir(t.TempDir())
	var out strings.Builder
	if code := Main(t.Context(), []string{"sweep", "--dry-run"}, nil, &out, &out); code != 0 || named == nil {
		t.Fatalf("exit code %d, README %q: %s", code, named, out.String())
	}
	planned := regexp.MustCompile(`about (?:([0-9]+) min)? ?(?:([0-9]+) s)?`).FindStringSubmatch(out.String())
	if planned == nil {
		t.Fatalf("no time in %s", out.String())
	}
	minutes, _ := strconv.Atoi(planned[1])
	if seconds, _ := strconv.Atoi(planned[2]); seconds > 0 {
		minutes++
	}
	if strconv.Itoa(minutes) != named[1] {
		t.Errorf("the plan says %q, README.md %q", planned[0], named[0])
	}
}

// examples has what the commands of the documents name.
func examples(t *testing.T) documented {
	// The programs that examples name need not be installed: --dry-run starts none.
	installed := t.TempDir()
	for _, name := range []string{"wrk", "hey", "ssh", "vegeta", "caddy", "etcd"} {
		writeProgram(t, filepath.Join(installed, name))
	}
	t.Setenv("PATH", installed+string(filepath.ListSeparator)+os.Getenv("PATH"))
	tried := exec.Command("fakeserver", "-addr", "127.0.0.1:0")
	tried.Env = append(os.Environ(), "GOMAXPROCS=3")
	must.OK(t, tried.Start())
	t.Cleanup(func() { _ = tried.Process.Kill(); _ = tried.Wait() })
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {})
	var counted atomic.Int64
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "# TYPE http_requests_total counter\nhttp_requests_total %d\n", counted.Add(100))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	servers, certificate := serveModern(t)
	servers["http://127.0.0.1:8080"] = server.URL
	servers[":2112/metrics"] = server.URL + "/metrics"
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"10"]}]}}`)
	}))
	t.Cleanup(prometheus.Close)
	servers["http://prometheus.monitoring:9090"] = prometheus.URL
	return documented{servers, certificate, strconv.Itoa(tried.Process.Pid)}
}

// serveModern serves HTTPS and gRPC at the addresses of the documents' examples.
func serveModern(t *testing.T) (servers map[string]string, certificate []byte) {
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	rpc := loadtest.NewGRPC("v1")
	t.Cleanup(rpc.Stop)
	go rpc.Serve(l)
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	return map[string]string{"https://127.0.0.1:8443": secure.URL, "h2c://127.0.0.1:9090": "h2c://" + l.Addr().String()}, certificate
}

// documented is what stands in for the servers of the examples.
type documented struct {
	servers     map[string]string // by the URL that is shown
	certificate []byte            // of the one with TLS
	pid         string            // of a program whose values can be tried
}

// url is a word with the address of a server that is there.
func (d documented) url(word string) string {
	for shown, real := range d.servers {
		word = strings.ReplaceAll(word, shown, real)
	}
	return word
}

var someResult = regexp.MustCompile(`^results/\S+$`)

func runDocumented(t *testing.T, command, where string, there documented) {
	if _, fed, ok := strings.Cut(command, " | procfit "); ok { // by another program
		command = "procfit " + fed
	}
	command, _, _ = strings.Cut(command, " # ") // what an example is for
	words, err := load.Split(command)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	args := words[1:]
	if words[0] == "go" {
		args = words[3:]
	}
	t.Chdir(t.TempDir())
	for i, word := range args {
		if someResult.MatchString(word) && (i == 0 || args[i-1] != "--out") { // of a run that has ended
			writeJournalOf(t, word, slices.Contains(args, "--url") || args[0] == "report")
		}
		args[i] = there.url(word)
		if strings.HasPrefix(strings.TrimSpace(word), "./") {
			writeProgram(t, strings.Fields(word)[0])
		}
		if name, ok := strings.CutPrefix(word, "@"); ok {
			writeProgram(t, name)
		}
		if name, ok := strings.CutPrefix(word, "ca="); ok {
			must.OK(t, os.WriteFile(name, there.certificate, 0o600))
		}
	}
	if args = prepareDocumented(t, where, args, there); args == nil {
		return
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), args, strings.NewReader(podManifest), &out, &errs); code != 0 {
		t.Errorf("%s: procfit %s: exit code %d: %s", where, strings.Join(args, " "), code, errs.String())
	}
	if out.Len() == 0 {
		t.Errorf("%s: procfit %s prints nothing", where, strings.Join(args, " "))
	}
}

// prepareDocumented makes what a command needs in the folder here, and returns it as it can
// run in a test: nothing is measured and no pod is made. It returns nothing where the command
// has run already, or cannot.
func prepareDocumented(t *testing.T, where string, args []string, there documented) []string {
	switch args[0] {
	case "set": // which changes a running program
		return nil
	case "sweep", "compare", "resize", "run": // run would take the place of this test
		if slices.Contains(args, "results/branch") { // two runs that have ended
			return args
		}
		if args[0] == "compare" && slices.Contains(args, "results/main") && slices.Contains(args, "--url") {
			args = slices.Insert(args, 1, "--cpus", "load=shared") // as that sweep had it
		}
		return slices.Insert(args, 1, "--dry-run")
	case "fleet":
		writeFleet(t)
		return append(args, "--dry-run")
	case "live":
		args[1] = there.pid
		if slices.Contains(args, "--rate") {
			args[1] = strings.TrimPrefix(there.servers["http://127.0.0.1:8080"], "http://127.0.0.1")
		}
		return append(args, "--dry-run")
	case "kube":
		return prepareKube(t, args)
	case "load":
		return append(args, "--for", "400ms") // in which a busy machine, too, answers a request
	case "exporter":
		if runtime.GOOS == "linux" {
			serveBriefly(t, where, args)
		}
		return nil
	case "trace":
		writeTraces(t)
	case "check":
		writeManifest(t)
		return append(args, "--exit-zero")
	case "migrate":
		if slices.Contains(args, "--fix") || slices.Contains(args, "--prove") {
			return nil // scripts/check/testdata/migrate_fix.txtar and migrate_prove.txtar
		}
		writeManifest(t)
		must.OK(t, os.WriteFile("go.mod", []byte("module example.org/api\n\ngo 1.26\n"), 0o600))
		must.OK(t, os.WriteFile("main.go", []byte("package main\n\nfunc main() {}\n"), 0o600))
		if slices.Contains(args, "--cluster") {
			args = append(args, "--kubeconfig", scripts.FakeShop(t))
		}
		return args
	case "ps":
		if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
			return nil // no program of that name runs here; scripts/look/testdata/ps.txtar lists by name
		}
		if !slices.Contains(args, "--interval") {
			args = append(args, "--interval", "50ms")
		}
	case "explain":
		if slices.Contains(args, "auto") {
			return nil // TestExplainMeasuredReserve waits for the five seconds of --reserve auto
		}
		if slices.Contains(args, "api") || slices.Contains(args, ":8080") {
			return nil // as of ps; scripts/look/testdata/explain_pid.txtar has both
		}
	case "lab":
		switch args[1] {
		case "report":
			return nil // it takes a lab run's folder; scripts/lab/testdata/lab_run.txtar has one
		case "serve":
			return nil // it would serve until it is interrupted; the built-in sweep runs it
		case "run":
			args = append(args, "--dry-run") // scripts/lab run them
			if slices.Contains(args, "--kube") {
				args = append(args, "--kubeconfig", scripts.FakeShop(t))
			}
		}
	}
	return args
}

func prepareKube(t *testing.T, args []string) []string {
	switch args[1] {
	case "sweep", "canary", "live":
		must.OK(t, os.WriteFile("manifest.yaml", []byte(podManifest), 0o600))
		args = append(args, "--dry-run")
	case "check":
		args = append(args, "--exit-zero", "--allow-empty")
	case "image":
		if slices.Contains(args, "--binary") { // of another platform, which script kube_image.txtar builds
			return nil
		}
		writeStatic(t, "static") // the test's own binary may be linked against a C library
		return append(args, "--binary", "static")
	}
	return append(args, "--kubeconfig", scripts.FakeShop(t))
}

// writeStatic makes a file that is a Linux program by its header, linked to nothing.
func writeStatic(t *testing.T, path string) {
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Phentsize: 56, Shentsize: 64}
	copy(header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var b bytes.Buffer
	must.OK(t, binary.Write(&b, binary.LittleEndian, header))
	must.OK(t, os.WriteFile(path, b.Bytes(), 0o755))
}

var execTrace, _ = filepath.Abs("../trace/exec/testdata/go1.27.1.trace")

// writeTraces makes a program that writes a line of a scheduler trace, a log of
// one, and an execution trace.
func writeTraces(t *testing.T) {
	const line = "SCHED 1000ms: gomaxprocs=2 idleprocs=0 threads=4 spinningthreads=0 needspinning=1 idlethreads=0 runqueue=3 [ 1 2 ] schedticks=[ 10 9 ]\n"
	for name, text := range map[string]string{"app": "#!/bin/sh\necho '" + line + "' >&2\n", "app.log": line, "trace.out": must.Read(t, execTrace)} {
		must.OK(t, os.WriteFile(name, []byte(text), 0o755))
	}
}

const podManifest = `apiVersion: v1
kind: Pod
metadata: {name: api}
spec:
  containers:
    - name: api
      image: x
      ports: [{containerPort: 8080}]
      env: [{name: GOMAXPROCS, value: "8"}]
      resources: {limits: {cpu: 2}}
`

// writeManifest makes a manifest with something to fix, and a program next to it.
func writeManifest(t *testing.T) {
	api := binarytest.Program{GoVersion: "go1.26.1", Module: "example.com/acme/api", GODEBUG: "containermaxprocs=0,updatemaxprocs=0"}
	for name, content := range map[string]string{
		"deploy/api.yaml": podManifest, "bin/api": string(api.Bytes()), "go.mod": "module example.com/acme/api\n\ngo 1.24\n",
	} {
		must.Write(t, name, content)
	}
}

func writeProgram(t *testing.T, path string) {
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
}

func writeJournal(t *testing.T, dir string) { writeJournalOf(t, dir, true) }

// writeJournalOf makes a results folder of a sweep on this host, of a server or a batch program.
func writeJournalOf(t *testing.T, dir string, server bool) {
	h, trials := verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Unset(2, 900, 0.01), verdicttest.Set(1, 500, 0.02)}})
	h.TargetHost = session.ThisHost()
	h.Load.Arrangement = new(journal.ArrangementShared)
	if !server {
		h.Target.Kind, h.Load.Arrangement = "batch", nil
	}
	writeRun(t, dir, h, trials)
}
