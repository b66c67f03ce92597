package facts

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"testing"
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
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			t.Fatal(err)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			alone, err := ReadPID(pid)
			got, gotErr := shared.ReadPID(pid)
			again, againErr := ReadPID(pid)
			if err != nil || gotErr != nil || againErr != nil || !reflect.DeepEqual(alone, again) {
				return // it has ended, or its state changed meanwhile
			}
			if !reflect.DeepEqual(got, alone) {
				t.Errorf("process %d: %+v, alone %+v", pid, got, alone)
			}
		}()
	}
	wg.Wait()
}

func TestReaderOfNoProcess(t *testing.T) {
	for _, pid := range []int{0, -1, 1 << 30} {
		if f, err := new(Reader).ReadPID(pid); err == nil {
			t.Errorf("process %d: %+v", pid, f)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if f, err := new(Reader).ReadPID(cmd.Process.Pid); err == nil {
		t.Errorf("a process that has ended: %+v", f)
	}
}

func BenchmarkReader(b *testing.B) {
	var r Reader
	for n := 0; n < b.N; n++ {
		if _, err := r.ReadPID(os.Getpid()); err != nil {
			b.Fatal(err)
		}
	}
}
