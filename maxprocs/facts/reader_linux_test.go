package facts

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"
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
