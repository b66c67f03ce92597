package agree

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// program is a server that is asked about twice.
type program struct {
	name   string
	main   string   // its folder in testdata
	needs  []string // modules of others that it is built with
	copies []copied // modules that are changed in a copy first
	args   []string // {port} is filled in, and {dir}
	url    string   // behind the address; empty: /
	load   []string // flags of the load
	ready  string   // what the sweep waits for, if not the url
	start  int      // GOMAXPROCS at start
	values []int    // to try
	limit  string   // in CPUs
}

// copied is a module in whose copy some texts are replaced.
type copied struct {
	module  string
	replace map[string][][2]string // by file
}

const importMetered = "import (\n\t\"example.com/agree/metered\"\n"

var programs = append(practice(),
	program{
		name: "caddy", main: "caddy", needs: []string{"github.com/caddyserver/caddy/v2@v2.10.2"},
		copies: []copied{{"github.com/caddyserver/caddy/v2", map[string][][2]string{"modules/caddyhttp/app.go": {
			{"import (\n", importMetered},
			{"Handler:           srv,", "Handler: metered.Meter.Middleware(srv),"},
			{"return context.WithValue(ctx, ConnCtxKey, c)", "return context.WithValue(metered.Meter.ConnContext(ctx, c), ConnCtxKey, c)"},
			{"// check if the connection is h2c\n", "ln = metered.Meter.Listener(ln)\n"},
		}}}},
		args: []string{"file-server", "--listen", "127.0.0.1:{port}", "--root", "{dir}"}, url: "/page.txt", start: 2, values: []int{1},
	},
	program{
		name: "etcd", main: "etcd", needs: []string{"go.etcd.io/etcd/server/v3@v3.6.5", "go.etcd.io/etcd/client/pkg/v3@v3.6.5"},
		copies: []copied{
			{"go.etcd.io/etcd/server/v3", map[string][][2]string{"embed/serve.go": {
				{"import (\n", importMetered},
				{"if err = configureHTTPServer(srv, s.Cfg); err != nil {\n\t\t\t\tsctx.lg.Error(\"Configure http server", "metered.Server(srv)\n\t\t\tif err = configureHTTPServer(srv, s.Cfg); err != nil {\n\t\t\t\tsctx.lg.Error(\"Configure http server"},
			}}},
			{"go.etcd.io/etcd/client/pkg/v3", map[string][][2]string{"transport/keepalive_listener.go": {
				{"import (\n", importMetered},
				{"return kal, nil", "return metered.Meter.Listener(plain{kal}), nil"},
				{"type keepaliveListener struct{ net.Listener }", "type keepaliveListener struct{ net.Listener }\n\n" +
					"type plain struct{ *keepaliveListener }\n\nfunc (l plain) Accept() (net.Conn, error) {\n\tc, err := l.keepaliveListener.Accept()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn c.(*keepAliveConn).TCPConn, nil\n}"},
			}}},
		},
		args: []string{"--data-dir", "{dir}/data", "--log-level", "error", "--listen-client-urls", "http://127.0.0.1:{port}", "--advertise-client-urls", "http://127.0.0.1:{port}", "--listen-peer-urls", "http://127.0.0.1:23811"},
		url:  "/v3/kv/range", load: []string{"--body", `{"key": "Zm9v"}`}, ready: "http://127.0.0.1:{port}/health", start: 2, values: []int{1},
	},
	program{
		name: "nats-server", main: "nats", needs: []string{"github.com/nats-io/nats-server/v2@v2.15.2"},
		args: []string{"-addr", "127.0.0.1:{port}"}, url: "/subsz?subs=1&limit=100", start: 2, values: []int{1},
	},
	program{
		name: "grpc-go", main: "grpc", needs: []string{"google.golang.org/grpc@v1.83.2"},
		args: []string{"-addr", "127.0.0.1:{port}"}, load: []string{"--grpc", "grpc.health.v1.Health/Check", "--body", `{"service": "seven"}`}, start: 2, values: []int{1},
	},
)

// practice are servers of testdata/practice.
func practice() (list []program) {
	for _, kind := range []string{"computing", "waiting", "locked", "allocating", "quota", "goroutines", "chain", "sized", "uneven", "idle"} {
		p := program{name: kind, main: "practice", args: []string{"-kind", kind, "-addr", "127.0.0.1:{port}"}, start: 2, values: []int{1}}
		switch kind {
		case "quota":
			p.limit = "1"
		case "waiting":
			p.start, p.values = 4, []int{2, 1}
		case "chain", "idle": // with more Ps than CPUs, as after a lower limit
			p.start, p.values = 4, []int{2}
		}
		list = append(list, p)
	}
	return list
}

// build builds the program below root, unless it is there already.
func (p program) build(t *testing.T, root string) string {
	t.Helper()
	dir := filepath.Join(root, "build", p.main)
	out := filepath.Join(dir, "server")
	if _, err := os.Stat(out); err == nil {
		return out
	}
	library := must.Get(filepath.Abs("../../maxprocs"))(t)
	for from, to := range map[string]string{p.main: dir, "metered": filepath.Join(dir, "metered")} {
		must.OK(t, os.CopyFS(to, os.DirFS(filepath.Join("testdata", from))))
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/agree\n\ngo 1.26\n"), 0o644))
	const own = "github.com/procfit/procfit/maxprocs"
	goIn(t, dir, "mod", "edit", "-require", own+"@v0.0.0", "-replace", own+"="+library)
	for _, module := range p.needs {
		goIn(t, dir, "mod", "edit", "-require", module)
	}
	for _, c := range p.copies {
		from := goIn(t, dir, "list", "-m", "-f", "{{.Dir}}", c.module)
		if from == "" {
			goIn(t, dir, "mod", "download", c.module)
			from = goIn(t, dir, "list", "-m", "-f", "{{.Dir}}", c.module)
		}
		to := filepath.Join(dir, "copies", strings.ReplaceAll(c.module, "/", "-"))
		c.change(t, from, to)
		goIn(t, dir, "mod", "edit", "-replace", c.module+"="+to)
	}
	goIn(t, dir, "build", "-o", out, ".")
	return out
}

// goIn runs the go command outside of the workspace.
func goIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// change makes the copy.
func (c copied) change(t *testing.T, from, to string) {
	t.Helper()
	must.OK(t, os.CopyFS(to, os.DirFS(from)))
	for file, list := range c.replace {
		path := filepath.Join(to, file)
		b := must.Read(t, path)
		text := b
		for _, x := range list {
			if strings.Count(text, x[0]) < 1 {
				t.Fatalf("%s: %q is not in it", path, x[0])
			}
			text = strings.Replace(text, x[0], x[1], 1)
		}
		must.OK(t, os.Remove(path)) // the module cache is read-only
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
}
