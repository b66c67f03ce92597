package facts

import (
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
}

// viewOf is the view that follows from the process's own texts. exists tells
// whether a file is there in the process's mount namespace.
func viewOf(procCgroup, mountinfo []byte, exists func(name string) bool) *View {
	m, err := cgfs.ParseProcCgroup(string(procCgroup))
	if err != nil {
		return &View{Fact: Fact{State: Malformed, Error: err.Error()}}
	}
	mounts, err := cgfs.ParseMountinfo(string(mountinfo))
	if err != nil {
		return &View{Fact: Fact{State: Malformed, Error: err.Error()}}
	}
	for _, mnt := range m.Showing(mounts) {
		if dir, _ := mnt.Dir(m.Path); exists(path.Join(dir, "cgroup.procs")) {
			return &View{Fact: Fact{State: Known, Raw: m.Line}, MountRoot: mnt.Root}
		}
	}
	return &View{Fact: Fact{State: Absent, Raw: m.Line}}
}

// SeenRoot is the mount root that the program's own runtime goes by.
func (c Cgroup) SeenRoot() string {
	if c.View != nil && c.View.State == Known {
		return c.View.MountRoot
	}
	return c.MountRoot
}
