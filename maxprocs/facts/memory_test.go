package facts

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// memoryOf reads a tree of these files, in which every group that holds one is a
// cgroup; the text "denied" is a file that may not be read.
func memoryOf(t *testing.T, group, mountinfo string, files map[string]string) Memory {
	t.Helper()
	tree := fstest.MapFS{
		"proc/self/cgroup":    {Data: []byte(group)},
		"proc/self/mountinfo": {Data: []byte(mountinfo)},
		"proc/self/environ":   {Data: []byte("A=1\x00GOMEMLIMIT=1GiB\x00")},
	}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
		tree[name[:strings.LastIndex(name, "/")]+"/cgroup.procs"] = &fstest.MapFile{}
	}
	return must.Get(ReadMemoryFS(denying{tree}, 0))(t)
}

// denying refuses files that hold "denied".
type denying struct{ fstest.MapFS }

func (d denying) Open(name string) (fs.File, error) {
	if f := d.MapFS[name]; f != nil && string(f.Data) == "denied" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.MapFS.Open(name)
}

func TestReadMemory(t *testing.T) {
	const (
		v2     = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		v1     = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		cpu    = "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
		none   = "9223372036854771712\n"
		leaf2  = "sys/fs/cgroup/pod/app/"
		pod2   = "sys/fs/cgroup/pod/"
		leaf1  = "sys/fs/cgroup/memory/pod/app/"
		pod1   = "sys/fs/cgroup/memory/pod/"
		root1  = "sys/fs/cgroup/memory/"
		inV1   = "3:memory:/pod/app\n2:cpu,cpuacct:/c\n0::/x\n"
		stat   = "cache 1\nhierarchical_memory_limit 4096\n"
		noStat = "hierarchical_memory_limit " + none
	)
	for name, tc := range map[string]struct {
		group, mounts string
		files         map[string]string
		want          string // the states and kinds from the group upwards
		tightest      string
	}{
		"v2": {"0::/pod/app\n", v2, map[string]string{leaf2 + "memory.max": "8192\n", leaf2 + "memory.high": "max\n", pod2 + "memory.max": "max\n"},
			"known max, no_limit high, no_limit max, absent high, absent max, absent high", "8192 /sys/fs/cgroup/pod/app/memory.max"},
		"v2, an ancestor's": {"0::/pod/app\n", v2, map[string]string{leaf2 + "memory.max": "8192\n", pod2 + "memory.max": "4096\n"},
			"known max, absent high, known max, absent high, absent max, absent high", "4096 /sys/fs/cgroup/pod/memory.max"},
		"v2, high": {"0::/pod/app\n", v2, map[string]string{leaf2 + "memory.max": "8192\n", leaf2 + "memory.high": "4096\n"},
			"known max, known high, absent max, absent high, absent max, absent high", "4096 /sys/fs/cgroup/pod/app/memory.high"},
		"v1": {inV1, cpu + v1 + v2, map[string]string{leaf1 + "memory.limit_in_bytes": "8192\n", leaf1 + "memory.stat": stat, pod1 + "memory.limit_in_bytes": none, root1 + "memory.limit_in_bytes": none},
			"known ancestors, known max, no_limit max, no_limit max", "4096 /sys/fs/cgroup/memory/pod/app/memory.stat"},
		"v1 without the stat's line": {inV1, v1, map[string]string{leaf1 + "memory.limit_in_bytes": "8192\n", leaf1 + "memory.stat": "cache 1\n", pod1 + "memory.limit_in_bytes": "4096\n"},
			"absent ancestors, known max, known max, absent max", "4096 /sys/fs/cgroup/memory/pod/memory.limit_in_bytes"},
		"v1, groups that do not inherit": {inV1, v1, map[string]string{leaf1 + "memory.limit_in_bytes": "8192\n", leaf1 + "memory.stat": "hierarchical_memory_limit 8192\n", pod1 + "memory.limit_in_bytes": "4096\n", pod1 + "memory.use_hierarchy": "0\n"},
			"known ancestors, known max", "8192 /sys/fs/cgroup/memory/pod/app/memory.stat"},
		"v1 without a limit": {inV1, v1, map[string]string{leaf1 + "memory.limit_in_bytes": none, leaf1 + "memory.stat": noStat},
			"no_limit ancestors, no_limit max, absent max, absent max", "none"},
		"hybrid: memory in v2, cpu in v1": {"2:cpu,cpuacct:/c\n0::/pod/app\n", cpu + v2, map[string]string{leaf2 + "memory.max": "8192\n"},
			"known max, absent high, absent max, absent high, absent max, absent high", "8192 /sys/fs/cgroup/pod/app/memory.max"},
		"malformed and denied": {"0::/pod/app\n", v2, map[string]string{leaf2 + "memory.max": "2g\n", pod2 + "memory.max": "denied"},
			"malformed max, absent high, unreadable max, absent high, absent max, absent high", "none"},
		"v1, no mount": {inV1, cpu, nil, "", "none"},
		"no group":     {"2:cpu:/c\n", cpu, nil, "", "none"},
	} {
		m := memoryOf(t, tc.group, tc.mounts, tc.files)
		var got []string
		for _, l := range m.Limits {
			got = append(got, string(l.State)+" "+string(l.Kind))
			if l.State != Known && l.Bytes != 0 || l.CPUs != 0 {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		tightest := "none"
		if l, ok := m.Tightest(); ok {
			tightest = fmt.Sprint(l.Bytes, " ", l.File)
		}
		if tightest != tc.tightest {
			t.Errorf("%s: the tightest is %s, want %s", name, tightest, tc.tightest)
		}
		if m.Env.Raw != "1GiB" {
			t.Errorf("%s: the environment has %+v", name, m.Env)
		}
	}
	unknown := memoryOf(t, "0::/pod/app\n", v2, map[string]string{leaf2 + "memory.max": "2g\n", pod2 + "memory.max": "denied"}).Unknown()
	if s := strings.Join(unknown, "; "); len(unknown) != 2 || !strings.Contains(s, `got "2g\n"`) || !strings.Contains(s, "permission denied") {
		t.Errorf("unknown: %q", unknown)
	}
	if m := memoryOf(t, inV1, cpu, nil); m.Cgroup.State != Unreadable || len(m.Unknown()) != 1 {
		t.Errorf("a group that no mount shows: %+v", m)
	}
	if m := memoryOf(t, "2:cpu:/c\n", cpu, nil); m.Cgroup.State != Absent || len(m.Unknown()) != 0 {
		t.Errorf("no group at all: %+v", m)
	}
	if _, err := ReadMemoryFS(fstest.MapFS{}, 7); err == nil {
		t.Error("a tree without the process is read")
	}
}
