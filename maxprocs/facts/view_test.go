package facts

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestViewOf(t *testing.T) {
	mount := func(root string) string {
		return "30 20 0:26 " + root + " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	}
	for name, tc := range map[string]struct {
		cgroup, mounts string
		missing        string // what is not there
		state          State
		root           string
	}{
		"as everybody":                     {"0::/a\n", mount("/"), "", Known, "/"},
		"bind-mounted":                     {"0::/a/b\n", mount("/a"), "", Known, "/a"},
		"in a container":                   {"0::/\n", mount("/"), "", Known, "/"},
		"namespace younger than the mount": {"0::/\n", mount("/../.."), "", Absent, ""},
		"another group's mount":            {"0::/a\n", mount("/b"), "", Absent, ""},
		"hidden":                           {"0::/a\n", mount("/"), "/sys/fs/cgroup/a/cgroup.procs", Absent, ""},
		"no cgroups":                       {"", mount("/"), "", Absent, ""},
		"malformed":                        {"0:\n", mount("/"), "", Malformed, ""},
	} {
		files := fstest.MapFS{}
		for _, name := range []string{"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/a/cgroup.procs", "/sys/fs/cgroup/b/cgroup.procs"} {
			if name != tc.missing {
				files["proc/7/root"+name] = &fstest.MapFile{}
			}
		}
		v := viewOf(&fsTree{files}, "/proc/7/root", []byte(tc.cgroup), []byte(tc.mounts))
		if v.State != tc.state || v.MountRoot != tc.root {
			t.Errorf("%s: %+v, want %s %q", name, *v, tc.state, tc.root)
		}
	}
	denied := deny{fstest.MapFS{}, "cgroup.procs"}
	if v := viewOf(&fsTree{denied}, "", []byte("0::/a\n"), []byte(mount("/"))); v.State != Unreadable || !strings.Contains(v.Error, "permission denied") {
		t.Errorf("a directory that cannot be looked into: %+v", *v)
	}
}
