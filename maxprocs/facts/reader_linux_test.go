package facts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// TestReader reads every process of this machine by one Reader, from several
// goroutines, and each by a Reader of its own: the facts are the same.
func TestReader(t *testing.T) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(dirs) == 0 {
		t.Skip("no processes to be seen in /proc")
	}
	var shared Reader
	var wg sync.WaitGroup
	for _, dir := range dirs {
		pid := must.Get(strconv.Atoi(filepath.Base(dir)))(t)
		wg.Add(1)
		go func() {
			defer wg.Done()
			var alone, got Facts
			for i := 0; i < 5; i++ { // a process that starts another program changes meanwhile
				var err, sharedErr error
				alone, err = ReadPID(pid)
				got, sharedErr = shared.ReadPID(pid)
				if err != nil || sharedErr != nil || reflect.DeepEqual(got, alone) {
					return // it has ended, or the facts are the same
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("process %d: %+v, alone %+v", pid, got, alone)
		}()
	}
	wg.Wait()
}

func TestReaderVariables(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{"A=1", "GOMAXPROCS=3"}
	must.OK(t, cmd.Start())
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	read := func() (Facts, error) { return (&Reader{Variables: []string{"A", "B"}}).ReadPID(cmd.Process.Pid) }
	f, err := read()
	for i := 0; i < 100 && err == nil && f.Env.State == Absent; i++ { // the kernel has not yet put the environment there
		time.Sleep(10 * time.Millisecond)
		f, err = read()
	}
	if err != nil || f.Env.Raw != "3" || len(f.Variables) != 2 || f.Variables[0].Raw != "1" || f.Variables[1].State != Absent {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = ReadPID(cmd.Process.Pid); err != nil || f.Variables != nil { // in JSON null, as after Read
		t.Errorf("without names: %#v, %v", f.Variables, err)
	}
}

func TestReaderOfNoProcess(t *testing.T) {
	for _, pid := range []int{0, -1, 1 << 30} {
		if f, err := new(Reader).ReadPID(pid); err == nil {
			t.Errorf("process %d: %+v", pid, f)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	must.OK(t, cmd.Run())
	if f, err := new(Reader).ReadPID(cmd.Process.Pid); err == nil {
		t.Errorf("a process that has ended: %+v", f)
	}
}

func BenchmarkReader(b *testing.B) {
	var r Reader
	for n := 0; n < b.N; n++ {
		must.Get(r.ReadPID(os.Getpid()))(b)
	}
}

// TestViewIsOfCgroups: what a process has put in place of a cgroup is not read.
func TestViewIsOfCgroups(t *testing.T) {
	root := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(root, "secret"), []byte("secret\n"), 0o600))
	for what, make := range map[string]func(name string) error{
		"a link":   func(name string) error { return os.Symlink("../secret", name) },
		"a file":   func(name string) error { return os.WriteFile(name, []byte("100000 100000\n"), 0o644) },
		"a device": func(name string) error { return os.Symlink("/dev/zero", name) },
		"a pipe":   func(name string) error { return syscall.Mkfifo(name, 0o644) },
	} {
		must.OK(t, errors.Join(os.Mkdir(filepath.Join(root, "cg"), 0o755), os.WriteFile(filepath.Join(root, "cg", "cgroup.procs"), nil, 0o644), make(filepath.Join(root, "cg", "cpu.max"))))
		v := viewOf(seenTree{}, root, []byte("0::/\n"), []byte("30 20 0:26 / /cg rw - cgroup2 cgroup2 rw\n"))
		if len(v.Sight.Limits) == 0 {
			t.Fatal("no policy looks for a limit there")
		}
		for _, l := range v.Sight.Limits {
			if l.State != Unreadable || l.Raw != "" || !strings.HasSuffix(l.Error, "/cg/cpu.max: is not a file of a cgroup") {
				t.Errorf("%s: %+v", what, l)
			}
		}
		must.OK(t, os.RemoveAll(filepath.Join(root, "cg")))
	}
}
