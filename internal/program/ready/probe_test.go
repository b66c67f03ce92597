package ready

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

func closedPort(t *testing.T) int {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		way     Way
		command bool
	}{
		"tcp": {WayTCP, false}, "grpc": {WayGRPC, false},
		"http://127.0.0.1:{port}/healthz": {WayURL, false}, "grpcs://x:1": {WayURL, false},
		"./ready.sh {port}": {WayCommand, true}, "curl http://x/": {WayCommand, true}, "/usr/bin/true": {WayCommand, true},
	} {
		p, command := Parse(text)
		if p.Way != want.way || command != want.command || (p.URL != "") != (want.way == WayURL && !command) {
			t.Errorf("%q: %+v, %v", text, p, command)
		}
	}
}

func TestProbeFor(t *testing.T) {
	p, err := Probe{Way: WayCommand, Command: []string{"nc", "-z", "{host}", "{port}", "{url}"}}.For("http://127.0.0.1:81/a")
	if want := []string{"nc", "-z", "127.0.0.1", "81", "http://127.0.0.1:81/a"}; err != nil || !slices.Equal(p.Command, want) {
		t.Errorf("%q, %v", p.Command, err)
	}
	p, err = Probe{URL: "http://127.0.0.1:{port}/healthz"}.For("https://127.0.0.1:82/")
	if err != nil || p.URL != "http://127.0.0.1:82/healthz" || p.Address() != "127.0.0.1:82" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"127.0.0.1:80", "ftp://x/", "http://", "http://%zz/", "grpc://127.0.0.1"} {
		if _, err := (Probe{}).For(bad); err == nil || !strings.Contains(err.Error(), strconv.Quote(bad)) {
			t.Errorf("URL %q: %v", bad, err)
		}
	}
	for _, bad := range []Probe{{Way: WayTCP}, {Way: WayGRPC}, {Way: WayCommand, Command: []string{"true"}}, {URL: "grpc://x:1"}} {
		bad.Statuses = Statuses{{200, 200}}
		if err := bad.Check("http://x:1/"); err == nil || !strings.Contains(err.Error(), "statuses are of HTTP") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestStatuses(t *testing.T) {
	s, err := ParseStatuses("200-399, 401")
	if err != nil || s.String() != "200-399,401" {
		t.Fatalf("%v, %v", s, err)
	}
	for status, want := range map[int]bool{199: false, 200: true, 399: true, 400: false, 401: true} {
		if s.has(status) != want {
			t.Errorf("%d: %v", status, !want)
		}
	}
	if none := (Statuses)(nil); !none.has(404) || none.has(500) {
		t.Error("without statuses any answer below 500 counts")
	}
	for _, bad := range []string{"", "99", "600", "300-200", "2xx", "200-", "-1"} {
		if _, err := ParseStatuses(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("http://127.0.0.1:{port}/x", "200-399")
	f.Add("sh -c 'x'", "1,2")
	f.Fuzz(func(t *testing.T, text, statuses string) {
		if p, command := Parse(text); command == (p.Way != WayCommand) {
			t.Fatalf("%q: %+v", text, p)
		}
		s, err := ParseStatuses(statuses)
		if err != nil {
			return
		}
		if again, err := ParseStatuses(s.String()); err != nil || !slices.Equal(again, s) {
			t.Fatalf("%q: %v, then %v, %v", statuses, s, again, err)
		}
	})
}
