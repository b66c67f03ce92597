package rule

import "fmt"

func missedMount() Rule {
	return Rule{
		ID:       "PF010",
		Title:    "a Go 1.25 that misses its limit in this mount",
		Severity: Warning,
		Since:    "0.1",
		Why: `Go 1.25 looks for the limit of its group as if every cgroup mount showed the
hierarchy from its root (golang/go#76390). Where a container sees only its own part
of it, as under cgroup v1, or v2 without a cgroup namespace, the file that it looks
for is not there, and it takes the number of CPUs. Go 1.26 finds it.`,
		Fix:   `Build with Go 1.26 or newer; until then set GOMAXPROCS.`,
		Check: checkMissedMount,
	}
}

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
