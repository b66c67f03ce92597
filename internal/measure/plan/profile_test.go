package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestWhereProfilesAre(t *testing.T) {
	for _, of := range []struct{ profile, server, want string }{
		{ProfileOwn, "http://127.0.0.1:8080/api?x=1", "http://127.0.0.1:8080/debug/pprof/"},
		{ProfileOwn, "h2c://127.0.0.1:8080", "http://127.0.0.1:8080/debug/pprof/"},
		{ProfileOwn, "https://me:secret@localhost:8443/", "https://localhost:8443/debug/pprof/"}, // the user is added where the host is the same
		{"http://127.0.0.1:6060/debug/pprof/", "http://127.0.0.1:8080/", "http://127.0.0.1:6060/debug/pprof/"},
		{"http://127.0.0.1:{port}/p", "http://127.0.0.1:8080/", "http://127.0.0.1:4711/p"},
	} {
		if got := (Spec{Profile: of.profile}).ProfileURL(of.server, 4711); got != of.want {
			t.Errorf("%s of %s: %s, want %s", of.profile, of.server, got, of.want)
		}
	}
	for text, want := range map[string]string{"own": "", "http://h:1/x": "", "https://h:{port}": "", "6060": "expected the URL", "127.0.0.1:6060": "expected the URL", "ftp://h/": "expected the URL", "http://": "expected the URL", "http://h/?token=x": "expected the URL", "http://h/#x": "expected the URL"} {
		f := field.Take(NewFlags().Fields(), field.Field{Name: "profile"})[0]
		if err := f.Value.Set(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The run that is profiled is a closed loop that outlasts the profile, whatever else the
// trials do.
func TestProfiledRun(t *testing.T) {
	s := server()
	if s.ProfileTakes() != 10*time.Second {
		t.Errorf("%v without --trial-time", s.ProfileTakes())
	}
	if p := s.Profiled(); p.LoadOptions([]string{"http://h/"}, 0, p.Load.Duration/2).Duration != 12*time.Second || p.Load.Stretch || p.ProfileTakes() < s.ProfileTakes() {
		t.Errorf("%+v", p.Load)
	}
	s.Load.Stretch, s.Load.Duration, s.Load.Command = false, 2500*time.Millisecond, "wrk -d{duration} {url}"
	if p := s.Profiled(); s.ProfileTakes() != 2*time.Second || p.Load.Duration != 4*time.Second {
		t.Errorf("%v, %v of a command", s.ProfileTakes(), p.Load.Duration)
	}
	if s.Load.Duration = 300 * time.Millisecond; s.ProfileTakes() != time.Second {
		t.Errorf("%v, want a second at least", s.ProfileTakes())
	}
	s.Target.Command, s.Target.URL = []string{"go", "test", "-bench", "."}, ""
	if s.ProfileTakes() != 0 {
		t.Errorf("%v of a test, want nothing", s.ProfileTakes())
	}
	for want, a := range map[string]journal.Setting{"default": {}, "2": {Procs: new(2)}, "2-GOGC_.._50": {Procs: new(2), Variables: []journal.Variable{{Name: "GOGC", Value: "../50"}}}} {
		if got := ProfileName(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
