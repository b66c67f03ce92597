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

// checkMissedMount asks the policy what the same limit would do in a mount of the
// whole hierarchy.
func checkMissedMount(s Subject) []Finding {
	if s.Facts.Cgroup.SeenRoot() == "/" || !s.tooMany() || s.SetBy != SetByAuto {
		return nil
	}
	whole := s.Facts
	whole.Cgroup.MountRoot, whole.Cgroup.View = "/", nil
	seen := s.goDecision(whole).Procs
	if seen >= s.Go.Procs {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("%s does not find the limit in a mount that shows %s as its root (golang/go#76390), and chooses %d where %d would follow",
			s.RuntimeName(), s.Facts.Cgroup.SeenRoot(), s.Go.Procs, seen),
		Fix: s.orElse("build it with Go 1.26 or newer", seen),
	}}
}
