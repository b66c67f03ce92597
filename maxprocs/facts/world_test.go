package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// TestWorlds decides in every recorded tree under testdata/worlds. A world's
// world.txt holds its story and what must come out, a line each; a key such as
// go1.26/1.20 names a toolchain and a language version.
func TestWorlds(t *testing.T) {
	dirs, err := filepath.Glob("testdata/worlds/*/world.txt")
	if err != nil || len(dirs) < 60 {
		t.Fatalf("found %d worlds, want at least 60 (%v)", len(dirs), err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text := must.Get(os.ReadFile(file))(t)
			f := must.Get(ReadFS(os.DirFS(dir), 0))(t)
			seen := map[string]bool{}
			for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
				key, want, ok := strings.Cut(line, ": ")
				if !ok {
					t.Fatalf("%s: want \"KEY: VALUE\", have %q", file, line)
				}
				seen[key] = true
				if key == "story" {
					continue
				}
				if got := outcome(t, f, key); got != want {
					t.Errorf("%s: got %s, want %s", key, got, want)
				}
			}
			if !seen["story"] || !seen["fit"] {
				t.Errorf("%s: a world needs a story and what fit decides", file)
			}
			if t.Failed() {
				t.Logf("facts: %+v\n%s\n%s", f, Decide(f, Fit{}), Decide(f, Go{Version: "1.26"}))
			}
		})
	}
}

var listed = map[Kind]bool{KindEnv: true, KindAffinity: true, KindLimit: true, KindDefault: true, KindOption: true}

func outcome(t *testing.T, f Facts, key string) string {
	procs := func(p Policy) string {
		d := Decide(f, p)
		if len(d.Reasons) == 0 {
			t.Errorf("%s gives no reason", key)
		}
		winners := 0
		if d.Policy != p.Name() {
			t.Errorf("%s decided in the name of %s", p.Name(), d.Policy)
		}
		for _, c := range d.Candidates {
			if !listed[c.What] {
				t.Errorf("%s: no constant for a candidate's %q", key, c.What)
			}
			if c.Winner {
				winners++
			}
		}
		if d.Outcome != Runs && winners == 0 && d.Procs == 0 {
			return string(d.Outcome)
		}
		if winners != 1 {
			t.Errorf("%s has %d winners: %+v", key, winners, d.Candidates)
		}
		return strconv.Itoa(d.Procs)
	}
	switch key {
	case "mode":
		return string(f.CgroupMode())
	case "cgroup":
		return string(f.Cgroup.State)
	case "root_seen":
		return strconv.FormatBool(f.Cgroup.RootSeen)
	case "effective":
		return cpusText(f.EffectiveCPUs())
	case "unknown":
		return strconv.Itoa(len(f.Unknown()))
	case "unknown-go":
		return strconv.Itoa(len(Decide(f, Go{Version: "1.26"}).Unknown))
	case "limits":
		var out []string
		for _, l := range f.Limits {
			switch l.State {
			case Known:
				out = append(out, strconv.FormatFloat(l.CPUs, 'f', -1, 64))
			case NoLimit:
				out = append(out, "none")
			default:
				out = append(out, string(l.State))
			}
		}
		return strings.Join(out, " ")
	case "automaxprocs":
		return procs(Automaxprocs{Version: "1.26"})
	case "automaxprocs1.24":
		return procs(Automaxprocs{Version: "1.24"})
	case "jvm":
		return procs(JVM{})
	case "fit":
		return procs(Fit{})
	case "fit-floor":
		return procs(Fit{Rounding: Floor})
	case "fit-reserve1":
		return procs(Fit{Reserve: 1})
	}
	if version, ok := strings.CutPrefix(key, "go"); ok {
		version, language, _ := strings.Cut(version, "/")
		p := Go{Version: version, Language: language}
		must.OK(t, p.Check())
		return procs(p)
	}
	return fmt.Sprintf("unknown key %q", key)
}
