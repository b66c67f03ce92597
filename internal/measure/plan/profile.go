package plan

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// ProfileOwn is a Spec.Profile without an address: the profiles are those that the server
// serves where it gets its load, or that the test binary writes.
const ProfileOwn = "own"

// RoleProfile is that of the task whose run is profiled. What it yields is a journal.Profiled, not a trial.
const RoleProfile journal.Role = "profile"

// Profiler is a Runner that can profile a setting.
type Profiler interface {
	// Profile runs a setting once more, and counts its CPU time and its memory by function.
	// Where no profile comes about, or only one, Missing says why. An error is that the next
	// setting would fare no better, or that of ctx.
	Profile(ctx context.Context, a journal.Setting) (journal.Profiled, error)
}

const (
	// profileTakes is how long a CPU profile lasts: at 100 samples per second and CPU, a
	// function with a tenth of the time of two CPUs has 200.
	profileTakes  = 10 * time.Second
	profileAround = 2 * time.Second // that the load lasts longer, for a server that answers late
)

// ProfileTakes is how long a server's CPU profile lasts, in whole seconds: as long as
// --trial-time says, if that is given. A test binary is profiled for as long as it runs: 0.
func (s Spec) ProfileTakes() time.Duration {
	switch {
	case !s.Target.IsServer():
		return 0
	case s.Load.Stretch:
		return profileTakes
	}
	return max(time.Second, s.Load.Duration.Truncate(time.Second))
}

// Profiled is the Spec of the run that is profiled: a closed loop alone, in which the server
// has all the work that it can take, or one run of a test binary.
func (s Spec) Profiled() Spec {
	s.Load.Duration, s.Load.SLO, s.Load.Stretch = s.ProfileTakes()+profileAround, nil, false
	if s.Load.Command == "" {
		s.Load.Duration *= 2 // of which the closed loop has half
	}
	s.Target.RunFor = 0
	if !s.Target.IsServer() {
		s.Load.Warmup = 0
	}
	return s
}

// ProfileURL is where a server's profiles are; own is the address that it is loaded at.
func (s Spec) ProfileURL(own string, port int) string {
	if s.Profile != ProfileOwn {
		return strings.ReplaceAll(s.Profile, PortPlaceholder, fmt.Sprint(port))
	}
	u, err := url.Parse(own)
	if err != nil {
		return own
	}
	if u.Scheme == "h2c" { // net/http serves HTTP/1.1 at the same port
		u.Scheme = "http"
	}
	return u.Scheme + "://" + u.Host + "/debug/pprof/"
}

// ProfileName tells the settings of a run that is profiled apart, in the name of a file.
func ProfileName(a journal.Setting) string {
	name := journal.LabelOf(a.Procs)
	for _, v := range a.Variables {
		name += "-" + v.String()
	}
	return FileName(name)
}

func profileAddress(text string) (string, error) {
	if text == ProfileOwn {
		return text, nil
	}
	u, err := url.Parse(strings.ReplaceAll(text, PortPlaceholder, "1"))
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
		return "", fmt.Errorf("%q: expected the URL below which net/http/pprof serves, such as http://127.0.0.1:6060/debug/pprof/", secret.Text(text))
	}
	return text, nil
}

func (s Spec) checkProfile() *FieldError {
	test, _ := gobench.Parse(s.Target.Command)
	switch {
	case s.Profile == "":
	case len(s.groups()) > 1:
		return Wrong("profile", " compares two settings: give one value of --limit, --replicas and --go")
	case s.Target.IsServer():
		if strings.Contains(s.Profile, PortPlaceholder) && !s.commandHas(PortPlaceholder) {
			return Wrong("profile", "=%s: it has {port}, but neither the command nor --env has: no port is chosen then", secret.Text(s.Profile))
		}
	case test == nil:
		return Wrong("profile", " needs a server with --url that serves net/http/pprof, or go test -bench: nothing else is known to write a profile")
	case s.Profile != ProfileOwn:
		return Wrong("profile", "=%s: go test writes its profiles itself: remove the address", secret.Text(s.Profile))
	}
	return nil
}
