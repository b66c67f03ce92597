package vm

import (
	"fmt"
	"regexp"
	"testing"
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
		/stripped ps -o json-lines --interval 0 $pid | sed -E "s/.*\"procs\":([0-9]+),.*\"set_by\":\"([a-z]+)\",\"source\":\"([a-z]+)\",\"numcpu\":([0-9]+).*/read $program $procs \\1 \\4 \\3 \\2/"
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

// TestSetARM64 calls into a program on arm64 under load: each value is read afterwards, and
// the program answers to the end.
func TestSetARM64(t *testing.T) {
	emulated(t, "arm64")
	const procfit = "github.com/procfit/procfit/cmd/procfit"
	output := Run(t, Machine{
		Arch: "arm64", CPUs: 4,
		Files: map[string]string{"/procfit": build(t, procfit, "GOARCH=arm64")},
		Script: `
export NO_COLOR=1
/procfit lab serve cpuserver --addr 127.0.0.1:8000 2>/tmp/log &
pid=$!
for i in $(seq 300); do grep -q Addr= /tmp/log && break; sleep 0.1; done
/procfit load --connections 4 --for 60s --json http://127.0.0.1:8000/ >/tmp/load 2>&1 &
load=$!
sleep 2
made=0
for i in $(seq 100); do
	kill -0 $load 2>/dev/null || break
	/procfit set $pid $((1 + i % 4)) --yes >/tmp/set 2>&1 && made=$((made+1)) || { echo "refused: $(cat /tmp/set)"; grep -q "$((1 + i % 4))$" /tmp/set; }
done
cat /tmp/set
wait $load; echo "load ended $?"
grep -E '"(requests|errors)"' /tmp/load
kill -0 $pid && echo "alive after $made calls"
kill $pid
`})
	alive := regexp.MustCompile(`alive after (\d+) calls`).FindStringSubmatch(output)
	if alive == nil || alive[1] == "0" {
		t.Fatalf("the program does not live, or nothing was called:\n%s", output)
	}
	check(t, output, "load ended 0", `"errors": 0`)
	t.Logf("%s calls", alive[1])
}
