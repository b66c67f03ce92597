package maxprocs

import (
	"bytes"
	"fmt"
)

// membership is the process's place in the cpu controller's hierarchy.
type membership struct {
	version int // 0: in none
	path    string
	line    string // raw
}

// parseProcCgroup finds the hierarchy of the cpu controller in the text of
// /proc/PID/cgroup. Each line is
//
//	HIERARCHY-ID:CONTROLLER,CONTROLLER…:PATH
//
// and the v2 hierarchy's begins with "0::". A controller is in one hierarchy
// only, so a v1 line that names cpu settles it (man 7 cgroups). A line that
// cannot be read is an error only when no line answers.
func parseProcCgroup(b []byte) (membership, error) {
	var v2 membership
	var bad error
	for len(b) > 0 {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte("\n"))
		if len(line) == 0 {
			continue
		}
		id, rest, ok1 := bytes.Cut(line, []byte(":"))
		controllers, path, ok2 := bytes.Cut(rest, []byte(":"))
		if !ok1 || !ok2 || len(path) == 0 || path[0] != '/' {
			if bad == nil {
				bad = fmt.Errorf("want \"ID:CONTROLLERS:/PATH\", have %s", quote(line))
			}
			continue
		}
		switch {
		case string(id) == "0" && len(controllers) == 0:
			v2 = membership{version: 2, path: string(path), line: string(line)}
		case hasOption(controllers, "cpu"):
			return membership{version: 1, path: string(path), line: string(line)}, nil
		}
	}
	if v2.version == 2 {
		return v2, nil
	}
	return membership{}, bad
}

// hasOption tells whether a comma-separated list holds the name.
func hasOption(list []byte, name string) bool {
	for len(list) > 0 {
		var item []byte
		item, list, _ = bytes.Cut(list, []byte(","))
		if string(item) == name {
			return true
		}
	}
	return false
}
