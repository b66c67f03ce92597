package rule

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestRemediesLeadToWhatFits: a remedy that names the value which comes of it
// names the one that fits, too.
func TestRemediesLeadToWhatFits(t *testing.T) {
	chooses := regexp.MustCompile(`chooses? ([0-9]+)`)
	looked := 0
	for _, machine := range []Observed{
		machine(1), machine(2), machine(8), machine(8, 0.5), machine(8, 1), machine(2, 0.4), machine(8, 2), machine(8, 2.5), machine(64, 20, 1.5), machine(64, 20, 1), machine(64, 0, 4),
	} {
		for _, version := range []string{"go1.21.13", "go1.24.6", "go1.25.3", "go1.26.1"} {
			for _, env := range []string{"", "1", "2", "3", "8", "2.5"} {
				for _, live := range []int{0, 1, 2, 3, 5, 8, 64} {
					for _, change := range []func(Observed) Observed{
						func(o Observed) Observed { return o },
						func(o Observed) Observed { return o.custom(false) },
						func(o Observed) Observed { return o.custom(true) },
						func(o Observed) Observed { return o.baked(off) },
						func(o Observed) Observed { return o.mountRoot("/docker/x") },
						func(o Observed) Observed { return o.automaxprocs("v1.6.0") },
					} {
						o := change(machine.gover(version))
						if env != "" {
							o = o.withEnv(env)
						}
						if live > 0 {
							o = o.live(live)
						}
						s := NewSubject(o)
						for _, f := range Judge(s) {
							for _, m := range chooses.FindAllStringSubmatch(f.Fix, -1) {
								looked++
								fits := strconv.Itoa(s.Fit.Procs)
								if m[1] != fits && !strings.Contains(f.Fix, "GOMAXPROCS="+fits+" in its environment") && !strings.Contains(f.Fix, "write GOMAXPROCS="+fits) && !strings.Contains(f.Fix, "instead, which chooses "+fits+";") && !strings.Contains(f.Fix, "are good values for") {
									t.Fatalf("%s fits, and %s says %q of %+v", fits, f.Rule, f.Fix, o)
								}
							}
						}
					}
				}
			}
		}
	}
	if looked < 1000 {
		t.Errorf("only %d remedies name a value", looked)
	}
}

// The command that measures an expected value again has the limit of now, and neither the
// seed nor the folder of then.
func TestAgainUnderTheLimitOfNow(t *testing.T) {
	for _, c := range []struct{ again, want string }{
		{"sweep --procs 1,2 --seed 7 --out results/a -- ./api --limit 9", "sweep --limit 4 --procs 1,2 -- ./api --limit 9"},
		{"sweep --limit=2 --rate 100 -- ./api", "sweep --limit 4 --rate 100 -- ./api"},
		{"sweep --limit 2", "sweep --limit 4"},
		{"sweep --limit 2,beside=0.5 --beside ./proxy", "sweep --limit 4,beside=0.5 --beside ./proxy"},
		{"kube sweep deployment/api", "kube sweep deployment/api"},
		{"", ""},
	} {
		o := machine(8, 4).live(2).expects(2, 2, 8, "")
		o.Expected.Again = strings.Fields(c.again)
		if got := strings.Join(NewSubject(o).expectedHere().Again, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.again, got, c.want)
		}
	}
	o := machine(8).live(2).expects(2, 2, 8, "")
	o.Expected.Again = strings.Fields("sweep --limit 2 -- ./api")
	if got := strings.Join(NewSubject(o).expectedHere().Again, " "); got != "sweep -- ./api" {
		t.Errorf("without a limit: %s", got)
	}
}

// TestAfterRestart: nobody is to write into an environment what the runtime chooses anyway, or
// what is there already.
func TestAfterRestart(t *testing.T) {
	const keep = "a restart forgets it; to keep it: "
	for _, tt := range []struct {
		o     Observed
		procs int
		auto  bool
		want  string
	}{
		{machine(8), 2, false, keep + "set GOMAXPROCS=2 in its environment"},
		{machine(8).withEnv("4"), 2, false, keep + "set GOMAXPROCS=2 in its environment instead of 4"},
		{machine(8).gover("go1.19.8"), 8, false, "a restart keeps it, unless the program sets another: its runtime chooses the same"},
		{machine(8).automaxprocs("v1.6.0"), 8, false, keep + "set GOMAXPROCS=8 in its environment"},
		{machine(8).withEnv("4"), 8, true, keep + "remove GOMAXPROCS=4 from its environment"},
		{machine(2, 0.5).gover("go1.19.8").withEnv("8").live(1), 2, false, keep + "remove GOMAXPROCS=8 from its environment"},
		{machine(2, 0.5).gover("go1.19.8").withEnv("8").live(1), 8, false, "a restart keeps it: GOMAXPROCS=8 is in its environment"},
	} {
		if got := NewSubject(tt.o).AfterRestart(tt.procs, tt.auto); got != tt.want {
			t.Errorf("%d, %v: %q, want %q", tt.procs, tt.auto, got, tt.want)
		}
	}
}
