package manifest

import (
	"strings"

	"github.com/procfit/procfit/internal/program/rule"
)

// gatherBy finds the limits of pods and tasks that are lower than the sum of the Ps of the
// Go programs under them. Units with the same key are of one pod or task.
func gatherBy(units []*unit, nodeCPUs int, key func(*unit) any) {
	type member struct {
		*unit
		subject *rule.Subject
	}
	pods := map[any][]member{}
	for _, u := range units {
		if u.unjudged == "" && (u.isGo || u.program.Known()) {
			s := rule.NewSubject(u.observed(nodeCPUs))
			pods[key(u)] = append(pods[key(u)], member{u, &s})
		}
	}
	for _, members := range pods {
		var subjects []*rule.Subject
		for _, m := range members {
			subjects = append(subjects, m.subject)
		}
		rule.Gather(subjects, func(dir string) bool {
			return dir == podDir || dir == taskDir || strings.HasSuffix(dir, ".slice") || strings.HasSuffix(dir, ".pod")
		})
		for _, m := range members {
			m.shared, m.together = m.subject.Shared, m.subject.Together
		}
	}
}
