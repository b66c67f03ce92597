package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A rehearsed resize from 2 to 6 of 8 CPUs names five planted laggards, and one that
// follows.
func TestLaggards(t *testing.T) {
	emulated(t, "amd64")
	dir := t.TempDir()
	files := map[string]string{"/procfit": build(t, "github.com/procfit/procfit/cmd/procfit")}
	for name, args := range map[string][]string{"server": nil, "old": {"-modfile=old.mod"}} {
		files["/"+name] = filepath.Join(dir, name)
		cmd := exec.Command("go", append(append([]string{"build"}, args...), "-o", files["/"+name], ".")...)
		cmd.Dir = "testdata/laggards"
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOARCH=amd64")
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	output := Run(t, Machine{
		CPUs: 8, Cgroup: "v2", Files: files, Limit: 12 * time.Minute,
		Script: `
rehearse() { # NAME COMMAND…
	name=$1; shift
	/procfit resize --limits '0s:2 15s:6' --rate 10 --connections 8 --warmup 200ms --url 'http://127.0.0.1:{port}/' -q --json --timeout ready=60s,request=30s -- "$@" >/tmp/$name 2>/tmp/$name.log
	echo "$name: exit $?"
	tr -d ' \n' </tmp/$name | grep -o '"laggards":.*'
	[ -s /tmp/$name ] || cat /tmp/$name.log
	grep -E '"(gomaxprocs|per_second|followed_seconds|cpus|threads)":' /tmp/$name | tr -d ' \n'; echo # for whom it fails
}
rehearse plain /server plain 127.0.0.1:{port}
rehearse environment env GOMAXPROCS=4 /server plain 127.0.0.1:{port}
rehearse fixed /server fixed 127.0.0.1:{port}
rehearse start /server start 127.0.0.1:{port}
rehearse old /old plain 127.0.0.1:{port}
rehearse pool /server pool 127.0.0.1:{port}
rehearse slow /server slow 127.0.0.1:{port}
echo "== left: $(find /sys/fs/cgroup -name 'procfit-*' ! -name 'procfit-self-*' | wc -l)"
`})
	check(t, output,
		"plain: exit 0\n\"laggards\":[]}", "environment: exit 1\n\"laggards\":[{\"code\":\"environment\",", "fixed: exit 1\n\"laggards\":[{\"code\":\"fixed\",",
		"start: exit 1\n\"laggards\":[{\"code\":\"at_start\",", "old: exit 1\n\"laggards\":[{\"code\":\"old_go\",",
		"pool: exit 1\n\"laggards\":[{\"code\":\"pool\",", "slow: exit 1\n\"laggards\":[{\"code\":\"slow\",", "== left: 0")
}
