package automemlimit

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// refused is what a file holds that may not be read.
const refused = "\x00refused"

// denying refuses to open such files.
type denying struct{ fstest.MapFS }

func (d denying) Open(name string) (fs.File, error) {
	if f := d.MapFS[name]; f != nil && string(f.Data) == refused {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.MapFS.Open(name)
}

// probe is automemlimit itself, which answers from /proc and /sys below a root.
type probe struct{ file string }

func newProbe(t *testing.T) probe {
	t.Helper()
	need.Root(t)                           // for chroot
	must.Read(t, "testdata/probe/main.go") // go test does not see that the go command reads it
	p := probe{filepath.Join(t.TempDir(), "probe")}
	build := exec.Command("go", "build", "-o", p.file, "./testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	must.Output(t, build)
	return p
}

func (p probe) answer(t *testing.T, tree fstest.MapFS) string {
	t.Helper()
	root := t.TempDir()
	must.OK(t, os.CopyFS(root, tree))
	must.OK(t, os.Link(p.file, filepath.Join(root, "probe")))
	cmd := exec.Command("/probe")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{"GODEBUG=containermaxprocs=0"}, &syscall.SysProcAttr{Chroot: root}
	return strings.TrimSpace(must.Output(t, cmd))
}

// TestTheirFixtures: their recorded trees, with the file that each group of a
// kernel has, answered by both.
func TestTheirFixtures(t *testing.T) {
	p := newProbe(t)
	dirs, err := filepath.Glob(filepath.Join(theirModule(t), "testdata/cgroups/*/mountinfo"))
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d fixtures, %v", len(dirs), err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		tree := fstest.MapFS{"proc/self/environ": {}}
		for _, name := range []string{"mountinfo", "cgroup"} {
			tree["proc/self/"+name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(must.Read(t, filepath.Join(dir, name)), "{{ROOT}}/fs", ""))}
		}
		err := fs.WalkDir(os.DirFS(filepath.Join(dir, "fs")), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(filepath.Join(dir, "fs", name))
			tree[name] = &fstest.MapFile{Data: b}
			tree[path.Dir(name)+"/cgroup.procs"] = &fstest.MapFile{}
			return err
		})
		must.OK(t, err)
		judge(t, "fixture "+filepath.Base(dir), ours(t, tree), p.answer(t, tree))
	}
}

// TestRandomWorlds: trees as kernels make them, of both versions, with limits at
// any level, answered by both. Without memory.high, which automemlimit does not
// read.
func TestRandomWorlds(t *testing.T) {
	p := newProbe(t)
	const worlds = 200
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for i := range worlds {
		tree := world(r)
		got, want := ours(t, tree), p.answer(t, tree)
		if class(got) != class(want) {
			t.Errorf("world %d: %s, theirs %s\n%s%s", i, got, want, tree["proc/self/cgroup"].Data, tree["proc/self/mountinfo"].Data)
		}
		kind := class(want)
		if kind != "none" && kind != "error" {
			kind = "limit"
		}
		seen[kind]++
	}
	t.Logf("%v", seen)
	if seen["limit"] < worlds/4 || seen["none"] < worlds/20 || seen["error"] < worlds/20 {
		t.Errorf("the worlds tell too little apart: %v", seen)
	}
}

// world makes a group some levels deep, seen through a mount of the root or of an
// ancestor, as in a container.
func world(r *rand.Rand) fstest.MapFS {
	group, names := "", []string{"kubepods.slice", "pod 1", "app"}
	for _, name := range names[:1+r.IntN(3)] {
		group += "/" + name
	}
	root, rel := "/", group
	if r.IntN(3) == 0 { // the mount shows the first of them as its root
		root = "/" + names[0]
		rel = strings.TrimPrefix(group, root)
	}
	v1 := r.IntN(2) == 0
	limit := func() string {
		switch r.IntN(8) {
		case 0:
			return "lots\n"
		case 1, 2, 3:
			if v1 {
				return "9223372036854771712\n"
			}
			return "max\n"
		}
		return fmt.Sprintln(4096 * (1 + r.IntN(1<<20)))
	}
	point, kind, options, line, file := "/sys/fs/cgroup", "cgroup2", "rw", "0::", "memory.max"
	if v1 {
		point, kind, options, line, file = "/sys/fs/cgroup/memory", "cgroup", "rw,memory", "5:memory:", "memory.limit_in_bytes"
	}
	escape := strings.NewReplacer(" ", `\040`)
	tree := fstest.MapFS{
		"proc/self/environ": {},
		"proc/self/cgroup":  {Data: []byte("7:pids:/\n" + line + group + "\n")},
		"proc/self/mountinfo": {Data: []byte(fmt.Sprintf("30 23 0:26 / /tmp rw - tmpfs tmpfs rw\n31 23 0:27 %s %s rw shared:1 - %s cgroup %s\n",
			escape.Replace(root), point, kind, options))},
	}
	for dir := path.Join(point, rel); ; dir = path.Dir(dir) {
		tree[dir[1:]+"/cgroup.procs"] = &fstest.MapFile{}
		// v1's own file is everywhere, v2's not in the hierarchy's root, and not where
		// the controller is not handed on.
		if dir != point && r.IntN(8) > 0 || v1 {
			tree[dir[1:]+"/"+file] = &fstest.MapFile{Data: []byte(limit())}
		}
		if v1 && dir != point && r.IntN(2) == 0 || v1 && dir == path.Join(point, rel) {
			tree[dir[1:]+"/memory.stat"] = &fstest.MapFile{Data: []byte("cache 1\n")}
		}
		if dir == point {
			break
		}
	}
	if v1 { // the kernel tells the least of the limits in memory.stat
		leaf := path.Join(point, rel)[1:]
		least := "9223372036854771712"
		for name, f := range tree {
			var n, m uint64
			fmt.Sscan(least, &m)
			if _, err := fmt.Sscan(string(f.Data), &n); path.Base(name) == file && err == nil && n < m {
				least = fmt.Sprint(n)
			} else if path.Base(name) == file && err != nil && path.Dir(name) != leaf {
				delete(tree, name) // automemlimit reads no ancestor's file on v1, so a malformed one is not told
			}
		}
		tree[leaf+"/memory.stat"] = &fstest.MapFile{Data: []byte("cache 1\nhierarchical_memory_limit " + least + "\nrss 1\n")}
	}
	return tree
}
