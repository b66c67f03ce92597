package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The blank import beside plain Go, through resizes on a machine of 8 CPUs: it is
// never worse. One CPU becomes 6, and under a parent cgroup's limit of 3 CPUs that
// goes away. old is a release before Go 1.25, and line has a go line below that.
func TestImportBesidePlainGo(t *testing.T) {
	emulated(t, "amd64")
	chain, err := toolchain.Fetch(t.Context(), "1.24.13")
	if err != nil {
		need.Skip(t, err.Error())
	}
	files, dir := map[string]string{}, t.TempDir()
	for name, args := range map[string][]string{
		"plain": {"go"}, "old": {filepath.Join(chain.Root, "bin", "go"), "-modfile=old.mod"}, "line": {"go", "-modfile=old.mod"},
	} {
		for suffix, tags := range map[string]string{"": "", "import": "imported"} {
			there := "/" + name + suffix
			files[there] = filepath.Join(dir, there)
			cmd := exec.Command(args[0], append([]string{"build", "-tags", tags, "-o", files[there]}, args[1:]...)...)
			cmd.Dir = "testdata/resize"
			cmd.Env = append(os.Environ(), "GOROOT=", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOARCH=amd64")
			must.Output(t, cmd)
		}
	}
	output := Run(t, Machine{
		CPUs: 8, Cgroup: "v2", Files: files,
		Script: `
cd /sys/fs/cgroup
echo +cpu >cgroup.subtree_control
mkdir one three
echo +cpu >one/cgroup.subtree_control; echo +cpu >three/cgroup.subtree_control
echo '300000 100000' >three/cpu.max
start() { # POD PROGRAM QUOTA
	mkdir $1/$2
	echo "$3 100000" >$1/$2/cpu.max
	sh -c "echo 0 >/sys/fs/cgroup/$1/$2/cgroup.procs; exec /$2" >/tmp/$1-$2 2>/tmp/$1-$2.log &
}
await() { # POD-NAME LINE
	for i in $(seq 300); do
		[ "$(tail -n 1 /tmp/$1)" = "$2" ] && { echo "$1: $2"; return; }
		sleep 0.1
	done
	echo "$1: not $2"; tail /tmp/*; exit 1
}
for pod in one three; do
	[ $pod = one ] && quota=100000 || quota=500000
	for name in plain plainimport old oldimport line lineimport; do start $pod $name $quota; done
done
echo "== at the start"
await one-plain 'procs 2 goroutines 1'; await one-plainimport 'procs 2 goroutines 1'
await one-old 'procs 8 goroutines 1'; await one-oldimport 'procs 1 goroutines 2'
await one-line 'procs 8 goroutines 1'; await one-lineimport 'procs 1 goroutines 2'
await three-plain 'procs 5 goroutines 1'; await three-plainimport 'procs 3 goroutines 2'
await three-old 'procs 8 goroutines 1'; await three-oldimport 'procs 3 goroutines 2'
await three-line 'procs 8 goroutines 1'; await three-lineimport 'procs 3 goroutines 2'
echo "== resized"
for name in plain plainimport old oldimport line lineimport; do echo '600000 100000' >one/$name/cpu.max; done
echo 'max 100000' >three/cpu.max
await one-plain 'procs 6 goroutines 1'; await one-plainimport 'procs 6 goroutines 1'
await one-oldimport 'procs 6 goroutines 2'; await one-lineimport 'procs 6 goroutines 2'
await three-plain 'procs 5 goroutines 1'; await three-plainimport 'procs 5 goroutines 2'
await three-oldimport 'procs 5 goroutines 2'; await three-lineimport 'procs 5 goroutines 2'
`})
	if n := strings.Count(output, "procs "); n != 20 {
		t.Errorf("%d answers, want 20:\n%s", n, output)
	}
}
