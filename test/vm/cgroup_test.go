package vm

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/test/need"
)

// emulated keeps a test to the second tier, and skips it where only quick tests are
// asked for and where there is nothing to boot, before anything is built for it. Then
// the test is parallel: a machine needs one CPU.
func emulated(t *testing.T, arch string) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots an emulated machine")
	}
	need.Everything(t, "boots an emulated machine; the packages' own tests run on this machine's kernel")
	commands := map[string]string{"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}
	need.Command(t, commands[arch])
	findKernel(t, arch)
	t.Parallel()
}

// The live tests of packages cgroup and supervisor, on the kernels' other
// arrangements; a skip counts as a failure there.
const (
	cgroupTests     = "/cgroup.test -test.v -test.timeout=60s -test.run 'Quota|Burst|Remove|Alive|GroupGone' || exit 1\n"
	supervisorTests = "/supervisor.test -test.v -test.timeout=60s -test.run 'Group|Affinity|ExitCodes|Stop|DescendantsDie|SignalsAreDefault' || exit 1\n"
)

// On v2 as root, whose shell is in a group of its own, and as an ordinary user
// in a group that was delegated the way systemd does it: the directory and the
// files for moving and enabling are the user's.
func TestV2(t *testing.T) {
	emulated(t, "amd64")
	output := Run(t, Machine{
		CPUs: 4, Cgroup: "v2",
		Files: map[string]string{"/cgroup.test": compile(t, "cgroup"), "/supervisor.test": compile(t, "supervisor")},
		Script: `
cd /sys/fs/cgroup
export PROCFIT_REQUIRE=1 PROCFIT_TEST_CGROUP='v2 in v2' PROCFIT_TEST_PARENT=/sys/fs/cgroup
mkdir session
(
echo 0 >session/cgroup.procs
echo "== root"
` + cgroupTests + supervisorTests + `
) || exit 1
mkdir /etc user user/delegated
echo 'ordinary:x:1000:1000::/tmp:/bin/sh' >/etc/passwd
echo +cpu >cgroup.subtree_control
echo +cpu >user/cgroup.subtree_control
for f in "" /cgroup.procs /cgroup.subtree_control /cgroup.threads; do chown 1000:1000 user/delegated$f; done
cat >/tmp/user <<'U'
echo "== user $(id -u)"
` + cgroupTests + `
[ -d /sys/fs/cgroup/user/delegated/procfit-self-* ] || exit 1
export PROCFIT_TEST_PARENT=/sys/fs/cgroup/user/delegated
` + supervisorTests + `
U
cat >/tmp/enter <<'U'
echo 0 >/sys/fs/cgroup/user/delegated/cgroup.procs
exec start-stop-daemon -S -c ordinary -x /bin/sh -- /tmp/user
U
sh /tmp/enter || exit 1
echo "== left: $(find /sys/fs/cgroup -name 'procfit-*' ! -name 'procfit-self-*' | wc -l)"
`})
	check(t, output, "== root", "== user 1000", "--- PASS: TestQuotaHolds", "--- PASS: TestQuotaLeft", "--- PASS: TestRemoveStale", "--- PASS: TestGroupHoldsAtMain", "--- PASS: TestGroupGoesWithProcfit", "== left: 0")
	if n := strings.Count(output, "--- PASS: TestGroupHoldsAtMain"); n != 2 {
		t.Errorf("the target's group held %d times, want once as root and once as a user:\n%s", n, output)
	}
}

// Where v1 has the cpu controller it must be chosen, v2 or not.
func TestHybrid(t *testing.T) {
	emulated(t, "amd64")
	output := Run(t, Machine{
		CPUs: 2, Cgroup: "hybrid",
		Files: map[string]string{"/cgroup.test": compile(t, "cgroup"), "/supervisor.test": compile(t, "supervisor")},
		Script: `
export PROCFIT_REQUIRE=1 PROCFIT_TEST_CGROUP='v1 in hybrid'
` + cgroupTests + `
/supervisor.test -test.v -test.timeout=60s -test.run Group || exit 1
`})
	check(t, output, "--- PASS: TestQuotaHolds", "--- PASS: TestGroupHoldsAtMain")
}

func check(t *testing.T, output string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in the output:\n%s", want, output)
		}
	}
}
