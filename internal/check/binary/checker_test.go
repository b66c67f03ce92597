package binary_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/binary"
	"github.com/procfit/procfit/internal/check/binary/binarytest"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// run checks paths for programs, and manifests beside them.
func run(t *testing.T, paths ...string) *check.Report {
	t.Helper()
	return must.Get(runContext(context.Background(), paths...))(t)
}

func runContext(ctx context.Context, paths ...string) (*check.Report, error) {
	programs := &check.Programs{}
	return check.Run(ctx, check.Options{Paths: paths, Checkers: []check.Checker{
		binary.New(binary.Options{Programs: programs, Paths: paths}), manifest.New(manifest.Options{Programs: programs}),
	}})
}

// found are the findings in short: "PF022 bin/api".
func found(r *check.Report, dir string) []string {
	return phrase.Each(r.Findings, func(f check.Finding) string {
		return strings.TrimSpace(f.Rule + " " + strings.TrimPrefix(f.Path, filepath.ToSlash(dir)+"/") + " " + f.Object)
	})
}

func elf(version string) binarytest.Program {
	return binarytest.Program{GoVersion: version, Module: "example.com/acme/api"}
}

// TestWhoseProgram: the remedy is one that the reader can carry out.
func TestWhoseProgram(t *testing.T) {
	off := elf("go1.26.1")
	off.GODEBUG = "containermaxprocs=0,updatemaxprocs=0"
	auto := elf("go1.26.1")
	auto.Automaxprocs = "v1.6.0"
	files := elf("go1.24.6")
	files.Module = "command-line-arguments"
	for name, tc := range map[string]struct {
		program binarytest.Program
		module  string // of a go.mod beside it
		rule    string
		fix     string
	}{
		"an old Go, ours":                {elf("go1.24.6"), "example.com/acme/api", "PF022", "build it with Go 1.25 or newer"},
		"of a module of ours above":      {elf("go1.24.6"), "example.com/acme", "PF022", "build it with"},
		"of one that only begins so":     {elf("go1.24.6"), "example.com/ac", "PF022", "set GOMAXPROCS wherever it has a CPU limit, or use a release"},
		"an old Go of others":            {elf("go1.24.6"), "", "PF022", "set GOMAXPROCS wherever"},
		"built from files":               {files, "", "PF022", "build it with"},
		"an old go line, ours":           {off, "example.com/acme/api", "PF005", "go mod edit -go=1.25 in its main module"},
		"an old go line of others":       {off, "", "PF005", "set GODEBUG=containermaxprocs=1,updatemaxprocs=1 in its environment"},
		"automaxprocs, ours":             {auto, "example.com/acme/api", "PF007", "remove the import"},
		"automaxprocs of others":         {auto, "example.com/else", "PF007", "nothing to do while its limit stays"},
		"a new Go, that follows a limit": {elf("go1.26.1"), "", "", ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "bin", "api")
		must.Write(t, path, string(tc.program.Bytes()))
		if tc.module != "" {
			must.Write(t, filepath.Join(dir, "go.mod"), "module "+tc.module+"\n\ngo 1.26\n")
		}
		// In a folder that is walked over, and by itself, with the go.mod above it.
		for _, paths := range [][]string{{dir}, {path}} {
			r := run(t, paths...)
			if len(r.Values) != 1 || r.Values[0].GoVersion != tc.program.GoVersion || !r.Values[0].Go || len(r.Problems) > 0 {
				t.Fatalf("%s: %+v", name, r)
			}
			switch {
			case tc.rule == "" && len(r.Findings) > 0:
				t.Errorf("%s: %v", name, r.Findings)
			case tc.rule != "" && (len(r.Findings) != 1 || r.Findings[0].Rule != tc.rule || !strings.Contains(r.Findings[0].Fix, tc.fix)):
				t.Errorf("%s: %+v, want %s %q", name, r.Findings, tc.rule, tc.fix)
			}
			if strings.Contains(tc.fix, "GODEBUG") || strings.Contains(tc.fix, "set GOMAXPROCS") {
				if f := r.Findings[0].Fix; strings.Contains(f, "import") || strings.Contains(f, "go mod edit") {
					t.Errorf("%s: %q is nothing that its user can do", name, f)
				}
			}
		}
	}
}

// TestModuleAbove: a folder of manifests is judged as in a check of the repository, with the
// go.mod above it; one outside of the repository is not read.
func TestModuleAbove(t *testing.T) {
	dir := t.TempDir()
	pod := filepath.Join(dir, "repo", "deploy", "pod.yaml")
	must.Write(t, pod, "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: api\n    image: api:1.0\n    resources: {limits: {cpu: 2}}\n")
	const module = "module example.com/api\n\ngo 1.24\n"
	must.Write(t, filepath.Join(dir, "go.mod"), module)
	must.Write(t, filepath.Join(dir, "repo", ".git", "HEAD"), "")
	if r := run(t, filepath.Dir(pod)); len(r.Findings) > 0 || r.Files != 1 {
		t.Errorf("with a go.mod outside of the repository: %+v", r.Findings)
	}
	must.Write(t, filepath.Join(dir, "repo", "go.mod"), module)
	for _, path := range []string{filepath.Dir(pod), filepath.Dir(pod) + "/...", pod, filepath.Join(dir, "repo")} {
		if r := run(t, path); len(r.Findings) != 1 || r.Findings[0].Rule != "PF005" || len(r.Problems) > 0 {
			t.Errorf("%s: %+v, want PF005", path, r.Findings)
		}
	}
}

// TestImageVariables: what an image's config sets counts for its program, and for a
// container that sets nothing.
func TestImageVariables(t *testing.T) {
	dir := t.TempDir()
	layer := binarytest.Tar(t, [2]string{"app", string(elf("go1.26.1").Bytes())}, [2]string{"old", string(elf("go1.22.0").Bytes())})
	image := binarytest.Image(t, "acme/api:1", `{"config":{"Entrypoint":["/app"],"Env":["GOMAXPROCS=4","GODEBUG=containermaxprocs=0"]}}`, layer)
	must.Write(t, filepath.Join(dir, "image.tar"), string(image))
	must.Write(t, filepath.Join(dir, "pod.yaml"), "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: x\n    image: docker.io/acme/api:1\n    resources: {limits: {cpu: 2}}\n")
	r := run(t, dir)
	// Only the program that is started is judged.
	if got := found(r, dir); !slices.Equal(got, []string{"PF020 image.tar acme/api:1: /app", "PF001 pod.yaml Pod"}) {
		t.Errorf("%v", got)
	}
	pod := r.Values[len(r.Values)-1]
	if pod.Procs == nil || *pod.Procs != 4 || !strings.Contains(pod.Source, "ENV of") || !strings.Contains(pod.Source, "its Go version comes from") || pod.GoVersion != "go1.26.1" {
		t.Errorf("%+v", pod)
	}
	if app := r.Values[0]; app.Procs == nil || *app.Procs != 4 || app.Source != "ENV of the image" {
		t.Errorf("%+v", app)
	}
}

// TestImageOfOthers: a container is not the Go tool that lies in its image.
func TestImageOfOthers(t *testing.T) {
	for name, config := range map[string]string{
		"bin/grpc_health_probe": `{"Entrypoint":["java","-jar","/app.jar"]}`,
		"usr/local/bin/gosu":    `{"Entrypoint":["docker-entrypoint.sh"],"Cmd":["postgres"]}`,
	} {
		dir := t.TempDir()
		layer := binarytest.Tar(t, [2]string{name, string(elf("go1.22.0").Bytes())})
		must.Write(t, filepath.Join(dir, "image.tar"), string(binarytest.Image(t, "postgres:16", `{"config":`+config+`}`, layer)))
		must.Write(t, filepath.Join(dir, "pod.yaml"), "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: x\n    image: postgres:16\n    resources: {limits: {cpu: 2}}\n")
		r := run(t, dir)
		pod := r.Values[len(r.Values)-1]
		if slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Object == "Pod" }) || pod.Go || pod.GoVersion != "" || pod.Unjudged == "" {
			t.Errorf("%s: %+v, found %v", name, pod, found(r, dir))
		}
	}
}

// TestModuleWithoutGoLine: what is wrong with a go.mod that the user has named does not repeat its path.
func TestModuleWithoutGoLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go.mod")
	must.Write(t, file, "module example.com/api\n")
	r := run(t, file)
	if len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0].Message, "has no go line") {
		t.Errorf("%+v", r.Problems)
	}
}

// TestUnreadable: what cannot be read is reported, and the rest is checked.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	good := string(elf("go1.24.6").Bytes())
	must.Write(t, filepath.Join(dir, "api"), good)
	must.Write(t, filepath.Join(dir, "packed"), "\x7fELF"+strings.Repeat("\x00", 200)+"UPX!"+strings.Repeat("x", 500))
	must.Write(t, filepath.Join(dir, "lib.so"), "\x7fELF\x02\x01\x01"+strings.Repeat("\xff", 2000))
	must.Write(t, filepath.Join(dir, "words.gz"), "\x1f\x8b\x08 no gzip")
	must.Write(t, filepath.Join(dir, "cut.tar"), string(binarytest.Tar(t, [2]string{"app", good})[:700]))
	must.Write(t, filepath.Join(dir, "out.tar"), string(binarytest.Tar(t, [2]string{"../../app", good}, [2]string{"app", good})))
	r := run(t, dir)
	problems := phrase.Each(r.Problems, func(p check.Problem) string { return filepath.Base(p.Path) + ": " + p.Message })
	want := []string{
		"cut.tar: it ends in /app: unexpected EOF",
		"out.tar: ../../app: a name that leads out of the archive; it is skipped",
		"packed: is packed by UPX, so nothing can be read from it: unpack it (upx -d) and check it again",
	}
	if !slices.Equal(problems, want) || !slices.Equal(found(r, dir), []string{"PF022 api", "PF022 out.tar /app"}) {
		t.Errorf("%q, %v", problems, found(r, dir))
	}
	// Named, what is no program of Go or no archive is at fault.
	r = run(t, filepath.Join(dir, "lib.so"), filepath.Join(dir, "words.gz"))
	if len(r.Problems) != 2 || !strings.Contains(r.Problems[0].Message, "is not a Go program") || !strings.Contains(r.Problems[1].Message, "gzip") {
		t.Errorf("%+v", r.Problems)
	}
}

func TestNoPermission(t *testing.T) {
	if need.Missing("root") == "" {
		t.Skip("root may read everything")
	}
	path := filepath.Join(t.TempDir(), "api")
	must.Write(t, path, string(elf("go1.24.6").Bytes()))
	must.OK(t, os.Chmod(path, 0o111))
	if r := run(t, filepath.Dir(path)); len(r.Problems) != 1 || r.Problems[0].Message != "permission denied" {
		t.Errorf("%+v", r.Problems)
	}
}
