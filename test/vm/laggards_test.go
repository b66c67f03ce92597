package vm

import (
	"testing"
	"time"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/need"
)

// laggards are servers, each by name and command.
var laggards = []struct{ command, want string }{
	{"plain /server plain 127.0.0.1:{port}", "plain: exit 0\n\"laggards\":[]}"},
	{"environment env GOMAXPROCS=4 /server plain 127.0.0.1:{port}", "environment: exit 1\n\"laggards\":[{\"code\":\"environment\","},
	{"fixed /server fixed 127.0.0.1:{port}", "fixed: exit 1\n\"laggards\":[{\"code\":\"fixed\","},
	{"start /server start 127.0.0.1:{port}", "start: exit 1\n\"laggards\":[{\"code\":\"at_start\","},
	{"old /old plain 127.0.0.1:{port}", "old: exit 1\n\"laggards\":[{\"code\":\"old_go\","},
	{"pool /server pool 127.0.0.1:{port}", "pool: exit 1\n\"laggards\":[{\"code\":\"pool\","},
	{"slow /server slow 127.0.0.1:{port}", "slow: exit 1\n\"laggards\":[{\"code\":\"slow\","},
}

// TestLaggards rehearses a resize from 2 to 6 of 8 CPUs: each planted laggard is named, and
// the server that follows is not.
func TestLaggards(t *testing.T) {
	need.Beyond(t, "each server is measured for a minute; the tests of package resize prove what is a laggard")
	emulated(t, "amd64")
	files := map[string]string{
		"/procfit": build(t, "github.com/procfit/procfit/cmd/procfit"),
		"/server":  built.Go(t, "testdata/laggards", alone, "build", "."),
		"/old":     built.Go(t, "testdata/laggards", alone, "build", "-modfile=old.mod", "."),
	}
	script, want := "", []string(nil)
	for _, l := range laggards {
		script += "rehearse " + l.command + "\n"
		want = append(want, l.want)
	}
	output := Run(t, Machine{
		CPUs: 8, Cgroup: "v2", Files: files, Limit: 12 * time.Minute,
		Script: `
rehearse() { # NAME COMMAND…
	name=$1; shift
	/procfit resize --limits '0s:2 15s:6' --rate 10 --connections 8 --trial-time warmup=200ms --url 'http://127.0.0.1:{port}/' -q --json --timeout ready=60s,request=30s -- "$@" >/tmp/$name 2>/tmp/$name.log
	echo "$name: exit $?"
	tr -d ' \n' </tmp/$name | grep -o '"laggards":.*'
	[ -s /tmp/$name ] || cat /tmp/$name.log
	grep -E '"(gomaxprocs|per_second|followed_seconds|cpus|threads)":' /tmp/$name | tr -d ' \n'; echo # for whom it fails
}
` + script + `echo "== left: $(find /sys/fs/cgroup -name 'procfit-*' ! -name 'procfit-self-*' | wc -l)"
`})
	check(t, output, append(want, "== left: 0")...)
}
