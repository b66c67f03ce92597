package facts

import (
	"errors"
	"io/fs"
	"path"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// View is where another process itself finds its group. It differs from what a
// reader outside finds when the process has mounts of its own (a container, a
// bind mount) or a cgroup namespace that is younger than its mounts; its runtime
// goes by its own view.
type View struct {
	Fact             // Known: it finds its group; Absent: it does not; Unreadable: that is not known
	MountRoot string // the group that its mount shows as its root
	Sight     Sight
}

// viewOf is the view that follows from the process's own texts. root is before
// its paths in the tree.
func viewOf(t tree, root string, procCgroup, mountinfo []byte) *View {
	v := &View{Sight: sightOf(t, root, procCgroup, mountinfo)}
	m, err := cgfs.ParseProcCgroup(string(procCgroup))
	if err != nil {
		v.Fact = Fact{State: Malformed, Error: err.Error()}
		return v
	}
	mounts, err := cgfs.ParseMountinfo(string(mountinfo))
	if err != nil {
		v.Fact = Fact{State: Malformed, Error: err.Error()}
		return v
	}
	v.State, v.Raw = Absent, m.Line
	for _, mnt := range m.Showing(mounts) {
		dir, _ := mnt.Dir(m.Path)
		switch err := t.look(root + path.Join(dir, "cgroup.procs")); {
		case err == nil:
			v.State, v.MountRoot, v.Sight.Dir, v.Error = Known, mnt.Root, dir, ""
			return v
		case !errors.Is(err, fs.ErrNotExist):
			v.State, v.Error = Unreadable, failed(dir, err).Error
		}
	}
	return v
}

// SeenRoot is the mount root that the program's own runtime goes by.
func (c Cgroup) SeenRoot() string {
	if c.View != nil && c.View.State == Known {
		return c.View.MountRoot
	}
	return c.MountRoot
}
