package facts

import (
	"errors"
	"io/fs"
	"path"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Sight is what a process itself can see of its cgroups, for policies that search in their
// own ways. Its paths are those of the process.
type Sight struct {
	ProcCgroup, Mountinfo []byte  // the whole texts of /proc/self; nil: not readable
	Dir                   string  // its own cgroup, by the search of this package; "": not found
	Limits                []Limit // at each place where a policy looks for the limit of its own cgroup

	places []goPlace // by findGo of the two texts, of Go 1.25 and of Go 1.26; nil: made by hand
}

// sightOf reads the places where the policies go and automaxprocs look. root is the
// prefix of the process's paths in the tree.
func sightOf(t tree, root string, procCgroup, mountinfo []byte) Sight {
	s := Sight{ProcCgroup: procCgroup, Mountinfo: mountinfo}
	look := func(version int, dir string) {
		if _, known := s.at(version, dir); known {
			return
		}
		l := readLimit(t, version, root+path.Clean(dir)) // a process does not see above its root
		l.Dir, l.File = dir, limitFile(version, dir)
		if version == 1 {
			l.PeriodFile = path.Join(dir, periodName)
		}
		s.Limits = append(s.Limits, l)
	}
	for _, minor := range []int{minorContainer, minorGroupFirst} {
		p := findGo(minor, procCgroup, mountinfo)
		if s.places = append(s.places, p); p.why == "" {
			look(p.version, p.dir)
		}
	}
	if p := findAutomaxprocs(mountinfo, procCgroup); p.why == "" {
		look(p.version, p.dir)
	}
	return s
}

func (s Sight) goPlace(minor int) goPlace {
	switch {
	case s.places == nil:
		return findGo(minor, s.ProcCgroup, s.Mountinfo)
	case minor < minorGroupFirst:
		return s.places[0]
	}
	return s.places[1]
}

// at is the limit of the directory, or false if no policy looks there.
func (s Sight) at(version int, dir string) (Limit, bool) {
	for _, l := range s.Limits {
		if l.Dir == dir && (l.PeriodFile != "") == (version == 1) {
			return l, true
		}
	}
	return Limit{}, false
}

// seen is what the process sees, if that is known: by its own view if it has one,
// otherwise what the reader sees. ok is false for facts that were not read.
func (f Facts) seen() (s Sight, ok bool) {
	c := f.Cgroup
	if v := c.View; v != nil && v.State != Unreadable {
		return v.Sight, v.Sight.ProcCgroup != nil || v.Sight.Mountinfo != nil
	}
	return c.Sight, c.Sight.ProcCgroup != nil || c.Sight.Mountinfo != nil
}

const (
	quotaName  = "cpu.cfs_quota_us"
	periodName = "cpu.cfs_period_us"
)

func limitFile(version int, dir string) string {
	if version == 1 {
		return path.Join(dir, quotaName)
	}
	return path.Join(dir, "cpu.max")
}

// noGroup is the fact if /proc/self/cgroup is missing. A kernel without cgroups still has
// /proc, and no cgroup mount. Without /proc, as in a chroot, nothing is known.
func noGroup(file string, mounts []cgfs.Mount, mountinfo Fact) Fact {
	switch {
	case mountinfo.State == Known && len(mounts) == 0:
		return Fact{State: Absent, File: file}
	case mountinfo.State == Absent:
		return Fact{State: Unreadable, File: file, Error: file + " is missing, and so is its directory: /proc is not mounted here"}
	}
	return Fact{State: Unreadable, File: file, Error: file + " is missing, although cgroups are mounted"}
}

// View is where another process itself finds its cgroup. It differs from what a reader
// outside finds if the process has its own mounts (a container, a bind mount) or a cgroup
// namespace that is newer than its mounts. Its runtime uses its own view.
type View struct {
	Fact             // Known: it finds its cgroup; Absent: it does not; Unreadable: not known
	MountRoot string // the cgroup that its mount shows as its root
	Sight     Sight
}

// viewOf is the view that follows from the process's own texts. root is the prefix of its
// paths in the tree.
func viewOf(t tree, root string, procCgroup, mountinfo []byte) *View {
	v := &View{Sight: sightOf(t, root, procCgroup, mountinfo)}
	m, err := cgfs.ParseMembership(string(procCgroup), cgfs.CPU)
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
		switch err := lookGroup(t, root+path.Join(dir, "/")); {
		case err == nil:
			v.State, v.MountRoot, v.Sight.Dir, v.Error = Known, mnt.Root, dir, ""
			return v
		case !errors.Is(err, fs.ErrNotExist):
			v.State, v.Error = Unreadable, failed(dir, err).Error
		}
	}
	return v
}

// SeenRoot is the mount root that the program's own runtime uses.
func (c Cgroup) SeenRoot() string {
	if c.View != nil && c.View.State == Known {
		return c.View.MountRoot
	}
	return c.MountRoot
}
