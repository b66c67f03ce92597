package container

import (
	"strings"
	"testing"
	"testing/fstest"
)

const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestID(t *testing.T) {
	for _, name := range []string{id, "/kubepods/burstable/pod1-2/" + id, "/a.slice/cri-containerd-" + id + ".scope", "crio-" + id + ".scope", "/kubepods.slice/crio-" + id + ".scope/container", "containerd://" + id, "/system.slice/kubepods-burstable-pod1_2.slice:cri-containerd:" + id} {
		if got := ID(name); got != id {
			t.Errorf("%q is of %q", name, got)
		}
	}
	for _, name := range []string{"", "/", "user.slice", id[1:], id + "0", "g" + id[1:], "/" + id + "/inner"} {
		if got := ID(name); got != "" {
			t.Errorf("%q is of %q, want none", name, got)
		}
	}
}

func TestLogs(t *testing.T) {
	names, err := Logs(fstest.MapFS{
		"api-5f6d-x2_shop_api-server-" + id + ".log": {},
		"api-5f6d-x2_shop_short-123.log":             {},
		"api_shop_extra_x-" + id + ".log":            {},
		"_shop_x-" + id + ".log":                     {},
		"other.txt":                                  {},
	})
	if want := (Name{"shop", "api-5f6d-x2", "api-server"}); err != nil || len(names) != 1 || names[id] != want {
		t.Errorf("%v: %v, want %v", err, names, want)
	}
	if _, err := Logs(fstest.MapFS{"a": {}}); err != nil {
		t.Error(err)
	}
}

func FuzzParseLog(f *testing.F) {
	for _, s := range []string{"a_b_c-" + id + ".log", "a_b_-" + id + ".log", "-" + id + ".log", ".log", "a_b_c.log"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		got, n, ok := parseLog(file)
		if back := n.Pod + "_" + n.Namespace + "_" + n.Container + "-" + got + ".log"; ok && back != file || !ok && got+n.Pod != "" {
			t.Errorf("%q is read as %q", file, back)
		}
		if strings.Contains(got, "-") {
			t.Errorf("identity %q", got)
		}
	})
}
