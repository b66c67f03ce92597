package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// cgroups is where cgroups can be created.
func cgroups(t *testing.T) *cgroup.Parent {
	t.Helper()
	need.Root(t)
	parent, err := cgroup.Find()
	if err != nil {
		need.Skip(t, "needs a cgroup: "+err.Error())
	}
	return parent
}

// away is where a program goes that leaves its group, and the words of a shell that do it.
func away(t *testing.T) (dir, words string) {
	dir = cgroups(t).Dir()
	return dir, "echo $$ >" + filepath.Join(dir, "cgroup.procs") + "; "
}

func underQuota(cpus float64, replicas int) journal.Setting {
	return journal.Setting{Label: journal.Default, Replicas: replicas, QuotaCPUs: &cpus}
}

// A limit that something changes while it is measured under makes the trial invalid: that of
// the target itself, and one of a cgroup around it.
func TestChangedLimit(t *testing.T) {
	dir, _ := away(t)
	// The group that the shell is in, of those below dir: $g.
	const find = `for f in "$0"/*/cgroup.procs; do grep -qx $$ "$f" && g=$(dirname "$f"); done; `
	const lift = `if [ -f "$g/cpu.max" ]; then echo max 100000 >"$g/cpu.max"; else echo -1 >"$g/cpu.cfs_quota_us"; fi; `
	for name, tc := range map[string]struct {
		script string
		valid  bool
	}{
		"kept":   {find + `[ -n "$g" ] || exit 9; sleep 0.1`, true},
		"lifted": {find + lift + "sleep 0.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, setting := job("sh", "-c", tc.script, dir), underQuota(0.5, 1)
			s.Quotas, s.Replicas = []*float64{setting.QuotaCPUs}, []int{1}
			trial, err := prepared(t, s, Config{}, setting).Run(t.Context(), plan.Task{Setting: setting}, nil)
			switch {
			case err != nil:
				t.Fatal(err)
			case tc.valid != trial.Valid:
				t.Errorf("valid %v, %s %q", trial.Valid, trial.InvalidCode, trial.InvalidReason)
			case !tc.valid && (trial.InvalidCode != journal.InvalidLimitChanged || !strings.Contains(trial.InvalidReason, "changed the CPU limit of the cgroup "+dir+"/procfit-")):
				t.Errorf("%s %q", trial.InvalidCode, trial.InvalidReason)
			}
		})
	}
	t.Run("around", func(t *testing.T) {
		parent := must.Get(cgroup.Find())(t)
		outer := must.Get(parent.New())(t)
		t.Cleanup(func() { _ = outer.Remove() })
		inner := filepath.Join(outer.Dir(), "inner")
		must.OK(t, os.Mkdir(inner, 0o755))
		before := limitsAround(inner)
		if err := before.kept(); err != nil {
			t.Errorf("nothing has changed: %v", err)
		}
		must.OK(t, outer.SetQuota(0.5))
		if err := before.kept(); err == nil || !strings.Contains(err.Error(), "of the cgroup "+outer.Dir()+" during") {
			t.Errorf("the parent's limit has changed: %v", err)
		}
	})
}

// A program that leaves the group of its quota, as one does that another launcher puts
// into a group of its own, proves nothing of the quota: alone, as one replica of two, and
// next to the target.
func TestOutsideOfTheQuota(t *testing.T) {
	dir, leave := away(t)
	left := filepath.Join(t.TempDir(), "left")
	beside := &plan.Neighbour{Command: []string{"sh", "-c", leave + ": >" + left + "; sleep 60"}}
	server := func() plan.Spec {
		s := overheadSpec(t)
		s.Target.Command = append([]string{"sh", "-c", leave + `exec "$@"`, "sh"}, s.Target.Command...)
		return s
	}
	for name, tc := range map[string]struct {
		spec     func() plan.Spec
		replicas int
		want     string
	}{
		"batch":  {func() plan.Spec { return job("sh", "-c", leave+"sleep 5") }, 1, "the target"},
		"server": {server, 1, "the target"},
		"replica": {func() plan.Spec {
			s, first := server(), filepath.Join(t.TempDir(), "first")
			s.Target.Command[2] = "mkdir " + first + " 2>/dev/null || " + s.Target.Command[2]
			return s
		}, 2, " of 2"},
		"beside": {func() plan.Spec {
			s := overheadSpec(t)
			s.Load.Duration = 3 * time.Second // in which it leaves
			s.Target.Beside = beside
			return s
		}, 1, "the --beside program"},
		"beside a batch program": {func() plan.Spec {
			s := job("sh", "-c", "until [ -e "+left+" ]; do sleep 0.05; done") // it does not end before
			s.Target.Beside = beside
			return s
		}, 1, "the --beside program"},
	} {
		t.Run(name, func(t *testing.T) {
			s, setting := tc.spec(), underQuota(0.5, tc.replicas)
			s.Quotas, s.Replicas = []*float64{setting.QuotaCPUs}, []int{tc.replicas}
			must.OK(t, os.RemoveAll(left))
			trial, err := answered(t.Context(), prepared(t, s, Config{}, setting), plan.Task{Setting: setting}, nil)
			if err != nil || trial.Valid || trial.InvalidCode != journal.InvalidOutside {
				t.Fatalf("%v, valid %v, %s %q", err, trial.Valid, trial.InvalidCode, trial.InvalidReason)
			}
			for _, want := range []string{tc.want, "CPU limit of 0.5", "is in the cgroup " + dir} {
				if !strings.Contains(trial.InvalidReason, want) {
					t.Errorf("%q does not say %q", trial.InvalidReason, want)
				}
			}
		})
	}
}

// A program that stays is not taken for one that left, whatever it starts, and however
// slowly its processes end under a small quota.
func TestWithinTheQuota(t *testing.T) {
	cgroups(t)
	s, setting := job("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sh -c 'true & true' & (sleep 0.01); done; wait"), underQuota(0.05, 2)
	s.Quotas = []*float64{setting.QuotaCPUs}
	trial, err := prepared(t, s, Config{}, setting).Run(t.Context(), plan.Task{Setting: setting}, nil)
	if err != nil || !trial.Valid {
		t.Errorf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
	}
}

// Whoever is elsewhere whenever somebody looks is found by what it used: its group counted
// hardly any period.
func TestNoPeriodOfTheQuota(t *testing.T) {
	t.Parallel()
	parent := cgroups(t)
	for name, tc := range map[string]struct {
		words string
		works bool // more than the limit allows in the periods that an idle group counts
		want  string
	}{
		"outside": {"while :; do :; done", true, "counted"},
		"idle":    {"exec sleep 60", false, ""},
		"inside":  {"echo $$ >GROUP; while :; do :; done", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group, err := parent.New()
			must.OK(t, err)
			defer group.Remove()
			must.OK(t, group.SetQuota(0.3))
			c := exec.Command("sh", "-c", strings.Replace(tc.words, "GROUP", group.ProcsFile(), 1))
			must.OK(t, c.Start())
			defer func() {
				c.Process.Kill()
				c.Wait()
			}()
			one := limited{"the target", 0.3, group, func() []int { return []int{c.Process.Pid} }}
			since := begin([]limited{one})
			for tc.works && observe.TreeCPU(one.pids())-since.cpu[0] <= one.inEmptyPeriods() { // for as long as a busy machine takes
				time.Sleep(10 * time.Millisecond)
			}
			err = since.end()
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want an error with %q", err, tc.want)
			}
		})
	}
}

// The groups of a target and of its neighbour have the shares that they were given, and need
// no quota for it.
func TestShares(t *testing.T) {
	dir, _ := away(t)
	seen := filepath.Join(t.TempDir(), "seen")
	s := job("sh", "-c", "cat "+dir+"/*/cpu.shares "+dir+"/*/cpu.weight >"+seen+" 2>/dev/null; true")
	s.Target.Shares = 522
	s.Target.Beside = &plan.Neighbour{Command: []string{"sleep", "60"}, Shares: 2099}
	valid(t, s)
	values := strings.Fields(must.Read(t, seen))
	for _, want := range [][2]string{{"522", "51"}, {"2099", "205"}} {
		if !slices.Contains(values, want[0]) && !slices.Contains(values, want[1]) {
			t.Errorf("no group has cpu.shares of %s or cpu.weight of %s: %v", want[0], want[1], values)
		}
	}
	s.Target.Shares = 1
	if _, err := prepared(t, s, Config{}, unset).Run(t.Context(), plan.Task{Setting: unset}, nil); err == nil || !strings.Contains(err.Error(), "CPU shares 1: expected a number") {
		t.Errorf("one share: %v", err)
	}
}
