package facts

import "testing"

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
		v := viewOf([]byte(tc.cgroup), []byte(tc.mounts), func(name string) bool { return name != tc.missing })
		if v.State != tc.state || v.MountRoot != tc.root {
			t.Errorf("%s: %+v, want %s %q", name, *v, tc.state, tc.root)
		}
	}
}
