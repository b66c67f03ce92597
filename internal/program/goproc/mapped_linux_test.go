//go:build !portable

package goproc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestParseMaps(t *testing.T) {
	const maps = `55d000000000-55d000001000 r-xp 00001000 fe:01 11                         /usr/bin/host
7f0000000000-7f0000001000 r--p 00000000 fe:01 12                         /usr/lib/libdata.so
7f0000001000-7f0000005000 r-xp 00001000 fe:01 13                         /opt/my lib/libx.so (deleted)
7f0000006000-7f0000007000 r-xp 00006000 fe:01 13                         /opt/my lib/libx.so (deleted)
7f0000008000-7f0000009000 rwxp 00000000 00:00 0 
7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]
junk
zz-1 r-xp 00000000 fe:01 14                         /usr/lib/junk.so
`
	all := parseMaps([]byte(maps))
	if len(all) != 2 || all[0].path != "/usr/bin/host" || all[1].name() != "libx.so" || all[1].start != 0x7f0000001000 || all[1].offset != 0x1000 || all[1].id != (mappedID{"fe:01", 13}) {
		t.Errorf("%+v", all)
	}
	var many bytes.Buffer
	for i := range 2 * maxMapped {
		fmt.Fprintf(&many, "%x-%x r-xp 00000000 fe:01 %d /lib/%d.so\n", i<<20, i<<20+1, i+1, i)
	}
	if all := parseMaps(many.Bytes()); len(all) != maxMapped {
		t.Errorf("%d files", len(all))
	}
}

// started is a script that becomes a command, so that a probe can be started by another program.
func started(t *testing.T, command ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "start")
	must.OK(t, os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexec %s\n", strings.Join(command, " ")), 0o755))
	return path
}

// TestLoader: a program that another loader has mapped is read as if the kernel had started it.
func TestLoader(t *testing.T) {
	const loader = "/lib64/ld-linux-x86-64.so.2"
	need.Command(t, "gcc")
	if _, err := os.Stat(loader); err != nil {
		need.Skip(t, "glibc's loader for amd64 is not "+loader)
	}
	path := build(t, []string{"CGO_ENABLED=1"})
	p, _ := goproctest.Start(t, started(t, loader, path), "GOMAXPROCS=3")
	var cache Cache
	readsMapped(t, &cache, p, filepath.Base(path), false)
}

// readsMapped reads a probe by its mappings, once at its start, and when it has changed its value.
func readsMapped(t *testing.T, cache *Cache, p *goproctest.Probe, name string, library bool) {
	t.Helper()
	live, err := cache.Live(p.PID())
	if err != nil || live.Procs != 3 || live.Mapped != name || live.Library != library || live.GoVersion != runtime.Version() {
		t.Errorf("%+v, %v", live, err)
	}
	p.Tell("5")
	if live, err := cache.Live(p.PID()); err != nil || live.Procs != 5 || live.Custom == nil || !*live.Custom {
		t.Errorf("after GOMAXPROCS(5): %+v, %v", live, err)
	}
	if program, err := cache.Program(p.PID()); err != nil || program.Mapped != name || program.MainModule != goproctest.Module {
		t.Errorf("%+v, %v", program, err)
	}
	if _, err := cache.Learn(t.Context(), p.PID()); err != nil {
		t.Error(err)
	}
	if _, err := cache.Text(p.PID()); !errors.Is(err, ErrNotGo) {
		t.Errorf("its code: %v", err)
	}
}

// TestLibrary: so is a Go library in a program of another language, with symbols and without, also if its
// file is gone.
func TestLibrary(t *testing.T) {
	need.Everything(t, "compiles the standard library again, as position-independent code; TestLoader reads a program that is mapped")
	gcc := need.Command(t, "gcc")
	host := filepath.Join(t.TempDir(), "host")
	source := host + ".c"
	if err := os.WriteFile(source, []byte(`#include <dlfcn.h>
int main(int argc, char **argv) {
	void *lib = dlopen(argv[1], RTLD_NOW);
	void (*run)(void) = lib ? dlsym(lib, "Run") : 0;
	if (!run) return 1;
	run();
	return 0;
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	must.Output(t, exec.Command(gcc, "-o", host, source, "-ldl"))
	files := built.Dir(t, "goproctest/testdata/probe")
	files["go.mod"] = "module " + goproctest.Module + "\n\ngo 1.25\n"
	files["lib.go"] = "package main\n\nimport \"C\"\n\n//export Run\nfunc Run() { main() }\n"
	for name, args := range map[string][]string{"symbols": nil, "stripped": {"-ldflags=-s -w"}, "gone": nil} {
		t.Run(name, func(t *testing.T) {
			lib := filepath.Join(t.TempDir(), "libprobe.so")
			built.Program{Name: "libprobe.so", Files: files, Env: []string{"CGO_ENABLED=1"}, Args: append([]string{"-buildmode=c-shared"}, args...)}.Copy(t, lib)
			p, _ := goproctest.Start(t, started(t, host, lib), "GOMAXPROCS=3")
			if name == "gone" {
				must.OK(t, os.Remove(lib))
				if os.Geteuid() != 0 {
					need.Skip(t, "only root opens a file by its mapping")
				}
			}
			var cache Cache
			readsMapped(t, &cache, p, "libprobe.so", true)
		})
	}
}

// TestNoGoMapped: a program without Go code in its mappings is none, and its libraries are not opened
// again.
func TestNoGoMapped(t *testing.T) {
	cmd := child.Start(t, exec.Command("cat"))
	cmd.In.Write([]byte("x\n"))
	cmd.Line() // all its libraries are mapped
	var cache Cache
	for range 2 {
		if _, err := cache.Live(cmd.Process.Pid); !errors.Is(err, ErrNotGo) {
			t.Fatal(err)
		}
	}
	all, err := mappings(cmd.Process.Pid)
	if err != nil || len(all) < 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, m := range all {
		if key := must.Get(keyOfInfo(os.Stat(m.path)))(t); !cache.other(m.id) && !cache.other(key) && !strings.HasSuffix(m.path, "/cat") {
			t.Errorf("%s is looked at again", m.path)
		}
	}
	// Another user can map somebody's library, and put a file with the same number on another device
	// in its place.
	somebodys := all[len(all)-1]
	somebodys.id.dev, somebodys.start, somebodys.end = "ff:ff", 1, 2 // where nothing is mapped, as without the right to open that
	if _, err := cache.openMapped(t.Context(), cmd.Process.Pid, &somebodys); !errors.Is(err, ErrNotGo) || cache.other(somebodys.id) {
		t.Errorf("a file of another device: %v", err)
	}
	if has, err := hasBuildInfo(&failing{bytes.NewReader(goodWorld().bytes()), 2}); has || err == nil {
		t.Errorf("a file that the system could not read: %v, %v", has, err)
	}
}
