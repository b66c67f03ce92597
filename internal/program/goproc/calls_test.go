package goproc_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const ours = "github.com/procfit/procfit/maxprocs"

// TestCode: who may set GOMAXPROCS is seen in a stripped program without modules, and a
// program that only asks does not count.
func TestCode(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) { must.Write(t, filepath.Join(dir, name), text) }
	write("src/sets/main.go", "package main\n\nimport (\n\t\"os\"\n\t\"runtime\"\n)\n\nfunc main() {\n\truntime.GOMAXPROCS(len(os.Args))\n}\n")
	write("src/asks/main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"runtime\"\n)\n\nfunc main() {\n\tfmt.Println(runtime.GOMAXPROCS(0))\n}\n")
	write("src/by/main.go", "package main\n\nimport (\n\t\"os\"\n\t\"runtime\"\n)\n\nvar set = runtime.GOMAXPROCS\n\nfunc main() {\n\tif len(os.Args) > 2 {\n\t\tset = nil\n\t}\n\tset(len(os.Args))\n}\n")
	write("src/auto/main.go", "package main\n\nimport \"go.uber.org/automaxprocs/maxprocs\"\n\nfunc main() { maxprocs.Set() }\n")
	write("src/auto/vendor/go.uber.org/automaxprocs/maxprocs/set.go", "package maxprocs\n\n//go:noinline\nfunc Set() { println(1) }\n")
	library := must.Get(filepath.Abs("../../../maxprocs"))(t)
	built.Reads(t, library)
	must.OK(t, errors.Join(os.MkdirAll(filepath.Join(dir, "src/github.com/procfit/procfit"), 0o755), os.Symlink(library, filepath.Join(dir, "src", ours))))
	write("src/follows/main.go", "package main\n\nimport _ \""+ours+"/auto\"\n\nfunc main() {}\n")
	write("src/may/main.go", "package main\n\nimport \""+ours+"\"\n\nfunc main() { maxprocs.Set() }\n")
	write("src/start/main.go", "package main\n\nimport (\n\t\"context\"\n\n\t\""+ours+"\"\n)\n\nfunc main() { maxprocs.Start(context.Background()) }\n")
	write("src/both/main.go", "package main\n\nimport (\n\t\"context\"\n\n\t\""+ours+"\"\n\t_ \""+ours+"/auto\"\n)\n\nfunc main() { maxprocs.Watch(context.Background()) }\n")
	for name, want := range map[string]goproc.Code{
		"sets": {Sets: true}, "asks": {Never: true}, "by": {}, "auto": {Automaxprocs: true},
		"follows": {Follows: true, Watches: true}, "may": {Maxprocs: true}, "start": {Maxprocs: true, Watches: true}, "both": {Follows: true, Maxprocs: true, Watches: true},
	} {
		for _, how := range []string{"amd64", "arm64", "external"} {
			if how == "arm64" && !need.Full() || how == "external" && (want.Follows || want.Maxprocs) {
				continue // the library has to be built for it; names are the same however it is linked
			}
			t.Run(name+"/"+how, func(t *testing.T) {
				file := filepath.Join(dir, name+how)
				cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, name)
				cmd.Env = append(os.Environ(), "GO111MODULE=off", "GOPATH="+dir, "GOFLAGS=", "GOWORK=off", "GOOS=linux", "GOARCH="+how, "CGO_ENABLED=0")
				if how == "external" { // other code comes before Go's
					need.Command(t, "gcc")
					cmd.Args[2] = "-ldflags=-s -w -linkmode=external"
					cmd.Env = append(cmd.Env, "GOARCH="+runtime.GOARCH, "CGO_ENABLED=1")
				}
				cmd.Dir = filepath.Join(dir, "src", name)
				must.Output(t, cmd)
				b := must.Get(os.ReadFile(file))(t)
				p, err := goproc.Read(bytes.NewReader(b))
				if err != nil || p.Code != want || len(p.Deps) > 0 {
					t.Errorf("%+v, %v", p, err)
				}
				if p, err = goproc.ReadStream(bytes.NewReader(b), int64(len(b)), 64<<20); err != nil || p.Code != want {
					t.Errorf("in a stream: %+v, %v", p, err)
				}
			})
		}
	}
}
