package rule

import "fmt"

// checkMissedMount asks the policy what the newest runtime would choose in the same
// mounts.
func checkMissedMount(s Subject) []Finding {
	if !s.readsLimit || !s.tooMany() || s.SetBy != SetByAuto {
		return nil
	}
	newest := s.Facts
	newest.GoVersion = ""
	seen := s.goDecision(newest).Procs
	if seen < 1 || seen >= s.Go.Procs {
		return nil
	}
	where := "among the mounts here"
	if root := s.Facts.Cgroup.SeenRoot(); root != "/" {
		where = "in a mount that shows " + root + " as its root (golang/go#76390)"
	}
	fix := s.orElse("build it with Go 1.26 or newer", seen)
	if s.Foreign {
		fix = s.setEnv()
	}
	return []Finding{{
		Message: fmt.Sprintf("%s does not find the limit %s, and chooses %d where %d would follow", s.RuntimeName(), where, s.Go.Procs, seen),
		Fix:     fix,
	}}
}
