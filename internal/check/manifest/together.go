package manifest

import (
	"strings"

	"github.com/procfit/procfit/internal/program/rule"
)

func gather(pods map[any][]*unit, nodeCPUs int) {
	for _, units := range pods {
		var subjects []*rule.Subject
		var members []*unit
		for _, u := range units {
			if u.unjudged == "" && (u.isGo || u.program.Known()) {
				s := rule.NewSubject(u.observed(nodeCPUs))
				subjects, members = append(subjects, &s), append(members, u)
			}
		}
		rule.Gather(subjects, func(dir string) bool {
			return dir == podDir || dir == taskDir || strings.HasSuffix(dir, ".slice") || strings.HasSuffix(dir, ".pod")
		})
		for i, u := range members {
			u.shared, u.together = subjects[i].Shared, subjects[i].Together
		}
	}
}
