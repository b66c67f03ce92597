package vm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/need"
)

// watch samples, while a target runs, which CPUs it and every thread of procfit may
// use, from the moment at which the journal is begun: before that the load's cost is
// measured on all CPUs.
const watch = `
target() {
  for p in $(ls /proc | grep '^[0-9]*$'); do
    [ $p -gt $sweep ] && tr '\0' ' ' 2>/dev/null </proc/$p/cmdline | grep -q '^/procfit lab serve' && echo $p && return
  done
}
while [ ! -s /tmp/out/journal.jsonl ]; do sleep 0.1; kill -0 $sweep || exit 1; done
while kill -0 $sweep 2>/dev/null; do
  target=$(target 2>/dev/null)
  [ -n "$target" ] || { sleep 0.1; continue; }
  seen=$(cat /proc/$target/task/*/status 2>/dev/null | grep Cpus_allowed_list | sort -u)
  own=$(cat /proc/$sweep/task/*/status 2>/dev/null | grep Cpus_allowed_list | sort -u)
  kill -0 $target 2>/dev/null || continue
  echo "== target $seen" >>/tmp/seen
  echo "== procfit $own" >>/tmp/seen
  sleep 0.2
done
wait $sweep || exit 1
sort -u /tmp/seen
head -n 1 /tmp/out/journal.jsonl | grep -o '"cpus":"[0-9-]*"\|"arrangement":"[a-z]*"\|"sizing":{"requests_per_second":[0-9]'
grep -o '"role":"[a-z]*"\|"observed_procs":\[[0-9]*\]\|"valid":[a-z]*' /tmp/out/journal.jsonl
`

// On 8 CPUs procfit's own load gets the last ones for itself, how many its cost in the
// emulator says: the target starts on the others, which its default follows, and no
// thread of procfit is on these while it runs.
func TestApart(t *testing.T) {
	emulated(t, "amd64")
	procfit := build(t, "github.com/procfit/procfit/cmd/procfit")
	output := Run(t, Machine{
		CPUs: 8, Cgroup: "v2", Files: map[string]string{"/procfit": procfit},
		Script: `
/procfit sweep --procs default --repeats 1 --trial-time 1s,warmup=200ms --connections 8 --rate 20 --max-errors 50% --timeout ready=60s --out /tmp/out 2>/tmp/err &
sweep=$!` + watch + `
cat /tmp/err
`})
	target, load := 7, "7"
	for target > 4 && !strings.Contains(output, fmt.Sprintf("on %d of 8 CPUs", target)) {
		target--
		load = fmt.Sprintf("%d-7", target)
	}
	check(t, output,
		fmt.Sprintf("== target Cpus_allowed_list:\t0-%d\n", target-1), "== procfit Cpus_allowed_list:\t"+load+"\n",
		`"arrangement":"apart"`, fmt.Sprintf(`"cpus":"0-%d"`, target-1), `"cpus":"`+load+`"`, `"sizing":{"requests_per_second":`,
		`"valid":true`, fmt.Sprintf(`"observed_procs":[%d]`, target),
		fmt.Sprintf("cpuserver at GOMAXPROCS default\n  on %d of 8 CPUs; the load generator has %d\n", target, 8-target))
	only(t, output)
}

// A generator of the user's gets a whole core of two threads, and with --cpus load=shared
// nothing is set apart.
func TestApartExternal(t *testing.T) {
	need.Beyond(t, "two sweeps more; TestApart proves where the target and procfit run")
	emulated(t, "amd64")
	procfit := build(t, "github.com/procfit/procfit/cmd/procfit")
	output := Run(t, Machine{
		CPUs: 8, SMT: 2, Cgroup: "v1", Files: map[string]string{"/procfit": procfit},
		Script: `
cat >/tmp/load.sh <<'END'
grep Cpus_allowed_list /proc/self/status >>/tmp/load
sleep 1
echo "rate 100 req/s"
END
set -- sweep --procs default --repeats 1 --trial-time 1s,warmup=0s --load 'sh /tmp/load.sh' --metric 'throughput=rate (\d+) req/s' --timeout ready=60s
/procfit "$@" --out /tmp/out 2>/tmp/err &
sweep=$!` + watch + `
sort -u /tmp/load | sed 's/^/== load /' # an emulated machine's speed changes, and blocks are repeated
cat /tmp/err
/procfit "$@" --cpus load=shared --out /tmp/shared >/dev/null 2>&1 || exit 1
head -n 1 /tmp/shared/journal.jsonl | grep -o '"arrangement":"shared"'
grep -o '"observed_procs":\[8\]' /tmp/shared/journal.jsonl
`})
	check(t, output,
		"== target Cpus_allowed_list:\t0-5\n", "== procfit Cpus_allowed_list:\t6-7\n", "== load Cpus_allowed_list:\t0-7\n", "== load Cpus_allowed_list:\t6-7\n",
		`"arrangement":"apart"`, `"cpus":"0-5"`, `"cpus":"6-7"`, `"observed_procs":[6]`, "on 6 of 8 CPUs; the load generator has 2;",
		`"arrangement":"shared"`, `"observed_procs":[8]`)
	only(t, output)
}

// only sees that the target was on one list of CPUs in every sample, and procfit too.
func only(t *testing.T, output string) {
	t.Helper()
	for _, who := range []string{"== target ", "== procfit "} {
		if n := strings.Count(output, who); n != 1 {
			t.Errorf("%d different samples of %q, want one: %s", n, who, output)
		}
	}
}
