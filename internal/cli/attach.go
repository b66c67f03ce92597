package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// setAttached finds the server that runs already.
func (o *sweepOptions) setAttached(spec *plan.Spec) error {
	switch attach := o.has("attach"); {
	case !attach && o.yes && !o.has("kube"):
		return usageError("--yes is for --kube and --attach")
	case !attach:
		return nil
	}
	found, err := local.Attach(o.spec.Attach)
	if err != nil {
		return refusal(err)
	}
	spec.Target.Attach = found
	if port, ok := strings.CutPrefix(o.spec.Attach, ":"); ok && spec.Target.URL == "" {
		spec.Target.URL = "http://127.0.0.1:" + port + "/"
	}
	if m := changing(spec.Load); m != nil && !o.yes {
		return usageError("--attach: %s may change what the server holds; --yes sends it all the same", phrase.And(m))
	}
	return nil
}

// changing are the methods of a load that are not safe (RFC 9110, 9.2.1).
func changing(l plan.Load) (list []string) {
	add := func(method string) {
		if !slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE"}, method) && !slices.Contains(list, method) {
			list = append(list, method)
		}
	}
	switch {
	case l.GRPC != nil:
		list = append(list, "a call of "+l.GRPC.Method)
	case len(l.Requests) > 0:
		for _, r := range l.Requests {
			add(r.EffectiveMethod())
		}
	case l.Command != "":
		list = append(list, "the --load command")
	default:
		add(l.EffectiveMethod())
	}
	return list
}

// tellAttached says what will be done to a server that somebody may be using.
func tellAttached(std stdio, s *session.Session) {
	a, l := s.Spec.Target.Attach, s.Spec.Load
	procs := "a GOMAXPROCS that cannot be read"
	if a.Procs != nil {
		procs = fmt.Sprintf("GOMAXPROCS %d", *a.Procs)
	}
	what := l.EffectiveMethod() + " " + s.Header.Target.URL
	switch {
	case l.GRPC != nil:
		what = "calls of " + l.GRPC.Method
	case l.Command != "":
		what = "what the --load command sends"
	case len(l.Requests) > 0:
		what = phrase.Count(len(l.Requests), "request") + " of a mix"
	}
	std.notef("process %d (%s) runs with %s and gets %s at %s requests a second, over %s; nothing of it is stopped or changed",
		a.PID, phrase.Clean(a.Name), procs, what, number.Count(l.Rate), phrase.Count(l.Connections, "connection"))
}
