package facts

import (
	"os"
	"reflect"
	"testing"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// TestReadMemoryLive: this process is the same for itself and for a Reader.
func TestReadMemoryLive(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off")
	own := ReadMemory()
	other := must.Get(new(Reader).ReadMemory(os.Getpid()))(t)
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

// TestMemoryChanged: a limit that reads otherwise, or that could not be read, is another;
// those of this process are what they were.
func TestMemoryChanged(t *testing.T) {
	m := ReadMemory()
	if m.Changed() {
		t.Errorf("changed a moment later: %+v", m.Limits)
	}
	for i := range m.Limits {
		other := m
		other.Limits = append([]MemoryLimit{}, m.Limits...)
		if other.Limits[i].Bytes++; !other.Changed() {
			t.Errorf("not changed: %+v", m.Limits[i])
		}
	}
	if len(m.Limits) == 0 && m.Cgroup.State == Known {
		t.Errorf("no limits: %+v", m)
	}
}

func BenchmarkMemoryChanged(b *testing.B) {
	m := ReadMemory()
	for i := 0; i < b.N; i++ {
		m.Changed()
	}
}
