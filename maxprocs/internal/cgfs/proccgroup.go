package cgfs

// The controllers whose limits are read.
const (
	CPU    = "cpu"
	Memory = "memory"
)

// Membership is a process's place in a controller's hierarchy.
type Membership struct {
	Version int // 0: in none
	Path    string
	Line    string // raw

	Controller string
}

// ParseProcCgroup finds the hierarchy of the cpu controller in the text of
// /proc/PID/cgroup.
func ParseProcCgroup(text string) (Membership, error) { return ParseMembership(text, CPU) }

// ParseMembership finds the hierarchy of a controller in the text of
// /proc/PID/cgroup. Each line is
//
//	HIERARCHY-ID:CONTROLLER,CONTROLLER…:PATH
//
// and the v2 hierarchy's begins with "0::". A controller is in one hierarchy
// only, so a v1 line that names it settles it (man 7 cgroups). A line that
// cannot be read is an error only when no line answers.
func ParseMembership(text, controller string) (Membership, error) {
	var v2 Membership
	var bad error
	for len(text) > 0 {
		var line string
		line, text, _ = cut(text, "\n")
		if line == "" {
			continue
		}
		id, rest, ok1 := cut(line, ":")
		controllers, path, ok2 := cut(rest, ":")
		if !ok1 || !ok2 || path == "" || path[0] != '/' {
			if bad == nil {
				bad = Error("expected \"ID:CONTROLLERS:/PATH\", got " + Quote(line))
			}
			continue
		}
		switch {
		case id == "0" && controllers == "":
			v2 = Membership{Version: 2, Path: path, Line: line, Controller: controller}
		case hasOption(controllers, controller):
			return Membership{Version: 1, Path: path, Line: line, Controller: controller}, nil
		}
	}
	if v2.Version == 2 {
		return v2, nil
	}
	return Membership{}, bad
}

// hasOption reports whether a comma-separated list holds the name.
func hasOption(list, name string) bool {
	for list != "" {
		var item string
		item, list, _ = cut(list, ",")
		if item == name {
			return true
		}
	}
	return false
}
