package facts

import (
	"os"
	"reflect"
	"testing"
)

// TestReadMemoryLive: this process is the same for itself and for a Reader.
func TestReadMemoryLive(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off")
	own := ReadMemory()
	other, err := new(Reader).ReadMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if own.PID != other.PID || len(own.Limits) == 0 && own.Cgroup.State == Known || !reflect.DeepEqual(own.Limits, other.Limits) {
		t.Errorf("%+v\nfrom outside %+v", own, other)
	}
	if own.Env.Raw != "off" {
		t.Errorf("the environment: %+v", own.Env)
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if m, err := new(Reader).ReadMemory(pid); err == nil {
			t.Errorf("process %d: %+v", pid, m)
		}
	}
}
