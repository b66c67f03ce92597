//go:build !portable

package goproc

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestLiveOddFiles reads programs whose file is not what the linker wrote, or is
// there no more.
func TestLiveOddFiles(t *testing.T) {
	t.Run("exe", func(t *testing.T) { testOddFiles(t) })
	t.Run("pie", func(t *testing.T) {
		need.Everything(t, pieReason)
		testOddFiles(t, "-buildmode=pie")
	})
}

func testOddFiles(t *testing.T, args ...string) {
	path := build(t, []string{"CGO_ENABLED=0"}, append(args, "-ldflags=-s -w")...)
	whole, err := os.ReadFile(path)
	must.OK(t, err)
	// names sets what the table of section names claims to be, and the file's size,
	// most of it a hole, so that it is.
	names := func(size int64) func(b []byte) int64 {
		return func(b []byte) int64 {
			heads := binary.LittleEndian.Uint64(b[40:])
			table := b[heads+64*uint64(binary.LittleEndian.Uint16(b[62:])):]
			binary.LittleEndian.PutUint64(table[32:], uint64(size))
			return size + int64(binary.LittleEndian.Uint64(table[24:]))
		}
	}
	for _, tt := range []struct {
		name string
		edit func(b []byte) (size int64) // 0: as it is
	}{
		{"section names of 1 TiB", names(1 << 40)},
		{"section names of 900 MiB", names(900 << 20)},
		{"section headers zeroed", func(b []byte) int64 {
			at := binary.LittleEndian.Uint64(b[40:])
			n := uint64(binary.LittleEndian.Uint16(b[60:])) * 64
			clear(b[at : at+n])
			return 0
		}},
		{"section headers unlinked", func(b []byte) int64 { clear(b[40:48]); clear(b[60:64]); return 0 }},
		{"deleted", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			odd := t.TempDir() + "/odd"
			b, size := append([]byte(nil), whole...), int64(0)
			if tt.edit != nil {
				size = tt.edit(b)
			}
			must.OK(t, os.WriteFile(odd, b, 0o700))
			if size > 0 {
				must.OK(t, os.Truncate(odd, size))
			}
			p, says := goproctest.Start(t, odd, "GOMAXPROCS=3")
			must.OK(t, os.Remove(odd))
			var c Cache
			var live Live
			if allocated := allocatedBy(func() { live, err = c.Live(p.PID()) }); allocated > 4<<20 {
				t.Errorf("%d bytes allocated", allocated)
			}
			if err != nil || live.Procs != 3 || live.GoVersion != runtime.Version() || live.MainModule != goproctest.Module || says.Procs != 3 || live.NumCPU != says.NumCPU || live.Latency == nil {
				t.Errorf("read %+v, %v; the program says %+v", live, err, says)
			}
		})
	}
}

// TestLiveConcurrent reads one program from many goroutines through one cache.
func TestLiveConcurrent(t *testing.T) {
	p, _ := goproctest.Start(t, build(t, []string{"CGO_ENABLED=0"}), "GOMAXPROCS=2")
	var c Cache
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if live, err := c.Live(p.PID()); err != nil || live.Procs != 2 {
				t.Errorf("read %d, %v", live.Procs, err)
			}
		})
	}
	wg.Wait()
}

func TestLiveErrors(t *testing.T) {
	var c Cache
	t.Run("not Go", func(t *testing.T) {
		wantError(t, &c, child.Start(t, exec.Command("cat")).PID(), ErrNotGo)
	})
	t.Run("gone", func(t *testing.T) {
		cmd := exec.Command("true")
		must.OK(t, cmd.Run())
		wantError(t, &c, cmd.Process.Pid, ErrGone)
	})
	t.Run("zombie", func(t *testing.T) {
		cmd := exec.Command("true")
		out := must.Get(cmd.StdoutPipe())(t)
		must.OK(t, cmd.Start())
		defer cmd.Wait()
		out.Read(make([]byte, 1)) // ends when the process does
		for !procstat.HasEnded(cmd.Process.Pid) {
			runtime.Gosched()
		}
		wantError(t, &c, cmd.Process.Pid, ErrGone)
	})
	t.Run("kernel thread", func(t *testing.T) {
		if comm, err := os.ReadFile("/proc/2/comm"); err != nil || string(comm) != "kthreadd\n" {
			need.Skip(t, "needs the kernel's threads in its PID namespace")
		}
		need.Root(t)
		wantError(t, &c, 2, ErrNotGo)
	})
	t.Run("the kernel refuses root", func(t *testing.T) {
		need.Root(t)
		if got := hint(os.Getpid()); RootMayTrace() && strings.Contains(got, "run ") {
			t.Errorf("root with CAP_SYS_PTRACE is sent to what it has: %q", got)
		}
	})
	t.Run("another user's", func(t *testing.T) {
		p, _ := goproctest.Start(t, build(t, []string{"CGO_ENABLED=0"}))
		need.AsNobody(t, func() {
			err := wantError(t, &c, p.PID(), ErrPermission)
			if err != nil && !strings.Contains(err.Error(), "it is of user 0: run as that user or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH") {
				t.Errorf("no hint in %q", err)
			}
		})
	})
}

// TestReadsAll: without the right to read the files of other users CAP_SYS_PTRACE is not enough.
func TestReadsAll(t *testing.T) {
	const machine = "         0          0 4294967295\n"
	for capabilities, want := range map[string]bool{
		"000001ffffffffff": true, "0000000000080004": true, "0000000000080002": true,
		"0000000000080000": false, "00000000a80425fb": false, "": false,
	} {
		if got := readsAll(capabilities, machine); got != want || readsAll(capabilities, "0 1000 1\n") {
			t.Errorf("%q: %t", capabilities, got)
		}
	}
}

func wantError(t *testing.T, c *Cache, pid int, want error) error {
	t.Helper()
	live, err := c.Live(pid)
	if !errors.Is(err, want) {
		t.Errorf("read %+v, %v; want %v", live, err, want)
	}
	if _, err := c.Program(pid); !errors.Is(err, want) {
		t.Errorf("the program: %v; want %v", err, want)
	}
	return err
}

func TestOpen(t *testing.T) {
	path := build(t, []string{"CGO_ENABLED=0"}, "-ldflags=-s -w")
	p := must.Get(Open(path))(t)
	// The probe asks for Go 1.18, so old GODEBUG defaults are linked into it.
	if p.GoVersion != runtime.Version() || p.Path != "example.com/probe" || p.DefaultGODEBUG == "" || p.Toolchain() {
		t.Errorf("read %+v", p)
	}
	if p, err := Open(need.Command(t, "go")); err != nil || !p.Toolchain() {
		t.Errorf("the go command: %+v, %v", p, err)
	}
	if _, err := Open("program_test.go"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Open("program.go"); !errors.Is(err, ErrNotGo) {
		t.Errorf("a text file: %v", err)
	}
}

func TestAuxvEntry(t *testing.T) {
	words := func(v ...uint64) []byte {
		b, _ := binary.Append(nil, binary.LittleEndian, v)
		return b
	}
	for _, tt := range []struct {
		auxv []byte
		want uint64
		ok   bool
	}{
		{words(6, 4096, 9, 0x401000, 0, 0), 0x401000, true},
		{words(6, 4096, 0, 0, 9, 1), 0, false},
		{words(6, 4096, 9), 0, false},
		{nil, 0, false},
	} {
		if got, ok := auxvEntry(tt.auxv); got != tt.want || ok != tt.ok {
			t.Errorf("%x: %#x, %v", tt.auxv, got, ok)
		}
	}
}

// BenchmarkLive is the cost of one reading: cached, and of the file's first.
func BenchmarkLive(b *testing.B) {
	for _, ldflags := range []string{"", "-s -w"} {
		p, _ := goproctest.Start(b, build(b, []string{"CGO_ENABLED=0"}, "-ldflags="+ldflags))
		name := "symbol"
		if ldflags != "" {
			name = "stripped"
		}
		var kept Cache
		read := func(b *testing.B, c *Cache) {
			must.Get(c.Live(p.PID()))(b)
		}
		b.Run(name+"/cached", func(b *testing.B) {
			for b.Loop() {
				read(b, &kept)
			}
		})
		b.Run(name+"/cold", func(b *testing.B) {
			for b.Loop() {
				read(b, new(Cache))
			}
		})
	}
}
