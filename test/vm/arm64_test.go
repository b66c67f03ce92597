package vm

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/procfit/procfit/test/built"
)

// ps on arm64: by symbol and by decoding, at 1 and 3 Ps and at the default, what
// is read equals what the program says in its first line. The targets are
// procfit's own practice server.
func TestARM64(t *testing.T) {
	emulated(t, "arm64")
	const procfit = "github.com/procfit/procfit/cmd/procfit"
	output := Run(t, Machine{
		Arch: "arm64", CPUs: 4,
		Files: map[string]string{
			"/stripped": build(t, procfit, "GOARCH=arm64"),
			"/symbols":  link(t, procfit, "-w", "GOARCH=arm64"),
		},
		Script: `
export NO_COLOR=1
port=8000
for program in symbols stripped; do
	for procs in unset 1 3; do
		port=$((port+1)); log=/tmp/$program-$procs.log
		if [ $procs = unset ]; then unset GOMAXPROCS; else export GOMAXPROCS=$procs; fi
		/$program lab serve cpuserver --addr 127.0.0.1:$port 2>$log &
		pid=$!; unset GOMAXPROCS
		for i in $(seq 300); do grep -q Addr= $log && break; sleep 0.1; done
		sed -E "s/.*GOMAXPROCS=([0-9]+) NumCPU=([0-9]+).*/says $program $procs \\1 \\2/" $log
		/stripped ps -o json-lines --interval 0 $pid | sed -E "s/.*\"procs\":([0-9]+),.*\"set_by\":\"([a-z]+)\".*\"source\":\"([a-z]+)\",\"numcpu\":([0-9]+).*/read $program $procs \\1 \\4 \\3 \\2/"
		kill $pid
	done
done
`})
	says := regexp.MustCompile(`says (symbols|stripped) (unset|1|3) (\d+) (\d+)`).FindAllStringSubmatch(output, -1)
	if len(says) != 6 {
		t.Fatalf("%d of 6 programs ran:\n%s", len(says), output)
	}
	for _, s := range says {
		source, setBy := "symbol", "env"
		if s[1] == "stripped" {
			source = "decoded"
		}
		if s[2] == "unset" {
			setBy = "auto"
		}
		check(t, output, fmt.Sprintf("read %s %s %s %s %s %s", s[1], s[2], s[3], s[4], source, setBy))
	}
}

// TestSetARM64 calls into a program on arm64 under load, a hundred times with PROCFIT_FULL=1: no
// answer may be wrong, late or missing.
func TestSetARM64(t *testing.T) {
	emulated(t, "arm64")
	const steer = "../../internal/program/steer"
	target := built.Program{
		Name: "target", Files: built.Dir(t, steer+"/testdata/target"),
		Env:  []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64", "GOFLAGS="},
		Args: []string{"-ldflags=-s -w"},
	}
	target.Files["go.mod"] = "module example.com/target\n\ngo 1.17\n"
	output := Run(t, Machine{
		Arch: "arm64", CPUs: 4, Limit: 40 * time.Minute,
		Files:  map[string]string{"/steer.test": run(t, []string{"test", "-c", steer}, "GOARCH=arm64"), "/target": target.Run(t)},
		Script: "PROCFIT_REQUIRE=1 PROCFIT_FULL=" + os.Getenv("PROCFIT_FULL") + " STEER_TARGET=/target /steer.test -test.run '^TestSet$' -calls 100 -test.v -test.timeout 0\n",
	})
	check(t, output, "--- PASS: TestSet ")
	t.Log(output)
}
