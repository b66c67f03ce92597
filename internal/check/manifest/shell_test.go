package manifest

import (
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/need"
)

// TestReadShell has scripts by what is found in them: the line, the fault and the program.
func TestReadShell(t *testing.T) {
	const v1 = "q=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us)\np=$(cat /sys/fs/cgroup/cpu/cpu.cfs_period_us)\n"
	kinds := map[origin]string{divided: "divided", roundedUp: "rounded up", unexported: "unexported", ofMachine: "machine"}
	for script, want := range map[string]string{
		// By hand.
		v1 + "export GOMAXPROCS=$((q / p))\nexec ./s \"$@\"":                                                       `3 divided ./s "$@"`,
		v1 + "export GOMAXPROCS=`expr $q / $p`\n./s":                                                               "3 divided ./s",
		v1 + "export GOMAXPROCS=`expr $q + $p - 1 / $p`\n./s":                                                      "3 rounded up ./s",
		v1 + "n=$((q / p))\n[ $n -lt 1 ] && n=1\nexport GOMAXPROCS=$n\nexec ./s":                                   "5 divided ./s",
		v1 + "GOMAXPROCS=$((q / p)) exec ./s":                                                                      "3 divided ./s",
		v1 + "export GOMAXPROCS=$(( (q + p - 1) / p ))\n./s":                                                       "3 rounded up ./s",
		v1 + "export GOMAXPROCS=$(( q / p + 1 ))\n./s":                                                             "3 rounded up ./s",
		v1 + ": ${GOMAXPROCS:=$((q / p))}\nexport GOMAXPROCS\n./s":                                                 "3 divided ./s",
		"read -r q p < /sys/fs/cgroup/cpu.max\nexport GOMAXPROCS=$((q/p))\n./s":                                    "2 divided ./s",
		"set -- $(cat /sys/fs/cgroup/cpu.max)\nexport GOMAXPROCS=$(($1 / $2))\n./s":                                "2 divided ./s",
		"cpus() { read q p < /sys/fs/cgroup/cpu.max; echo $((q / p)); }\nexport GOMAXPROCS=$(cpus)\nexec ./s -v":   "2 divided ./s -v",
		"F=/sys/fs/cgroup/cpu.max\nif [ -f $F ]; then read q p <$F; export GOMAXPROCS=$((q / p)); fi\nexec \"$@\"": `2 divided "$@"`,
		v1 + "GOMAXPROCS=$((q / p))\nexec ./s":                                                                     "3 divided ./s; 3 unexported ./s",

		// The CPUs of the machine.
		"export GOMAXPROCS=$(nproc)\n./s":                                                                   "1 machine ./s",
		"export GOMAXPROCS=$(($(nproc) / 2))\n./s":                                                          "1 machine ./s",
		v1 + "echo $((q / p))\nexport GOMAXPROCS=$(nproc)\n./s":                                             "4 machine ./s",
		"GOMAXPROCS=`getconf _NPROCESSORS_ONLN` exec ./s":                                                   "1 machine ./s",
		"export GOMAXPROCS=$(grep -c ^processor /proc/cpuinfo)\nexec ./s":                                   "1 machine ./s",
		"n=$(lscpu -p | grep -vc '^#')\nexport GOMAXPROCS=$n\nexec ./s":                                     "2 machine ./s",
		"exec env GOMAXPROCS=$(nproc --all) ./s":                                                            "1 machine ", // the command has the assignment
		"GOMAXPROCS=${GOMAXPROCS:-$(nproc)}\nexport GOMAXPROCS\n./s":                                        "1 machine ./s",
		"cpus() { /usr/bin/nproc; }\nexport GOMAXPROCS=$(cpus)\n./s":                                        "2 machine ./s",
		"export GOMAXPROCS=$(( $(nproc) > 4 ? 4 : $(nproc) ))\n./s":                                         "",
		"n=$(nproc)\n" + v1 + "[ $q -gt 0 ] && n=$((q / p))\nexport GOMAXPROCS=$n\n./s":                     "5 divided ./s",
		v1 + "if [ $q -gt 0 ]; then n=$((q / p)); else n=$(nproc); fi\nexport GOMAXPROCS=$n\n./s":           "",
		v1 + "if [ $q -gt 0 ]; then export GOMAXPROCS=$((q / p)); else export GOMAXPROCS=$(nproc); fi\n./s": "3 divided ./s",

		// Not exported.
		"GOMAXPROCS=4\n./s":                                             "1 unexported ./s",
		"GOMAXPROCS=4; exec ./s -p 1":                                   "1 unexported ./s -p 1",
		": ${GOMAXPROCS:=$(nproc)}\n./s":                                "1 unexported ./s",
		"GOMAXPROCS=$(nproc)\necho at $GOMAXPROCS\n./s":                 "1 unexported ./s",
		"if [ -z \"$GOMAXPROCS\" ]; then GOMAXPROCS=2; fi\n./s":         "1 unexported ./s",
		"# exports GOMAXPROCS\nGOMAXPROCS=2\necho $GOMAXPROCS >&2\n./s": "2 unexported ./s",

		// Nothing wrong.
		"export GOMAXPROCS=4\n./s":                                      "",
		"GOMAXPROCS=4 ./s":                                              "",
		"GOMAXPROCS=4\nexport GOMAXPROCS\n./s":                          "",
		"GOMAXPROCS=4\nexport A GOMAXPROCS\n./s":                        "",
		"declare -x GOMAXPROCS\nGOMAXPROCS=4\n./s":                      "",
		"set -a\nGOMAXPROCS=4\nset +a\n./s":                             "",
		"set -eao pipefail\nGOMAXPROCS=4\n./s":                          "",
		"set -o allexport\nGOMAXPROCS=4\n./s":                           "",
		"GOMAXPROCS=4\n. ./env\n./s":                                    "",
		"GOMAXPROCS=4\nexport $NAMES\n./s":                              "",
		"GOMAXPROCS=4\nexport \"$NAMES\"\n./s":                          "",
		"GOMAXPROCS=4\nenv GOMAXPROCS=$GOMAXPROCS ./s":                  "",
		"GOMAXPROCS=4\n./s -procs=$GOMAXPROCS":                          "",
		"GOMAXPROCS=4\n./s $((GOMAXPROCS * 2))":                         "",
		"GOMAXPROCS=4\nn=$GOMAXPROCS\n./s $n":                           "",
		"GOMAXPROCS=4\necho GOMAXPROCS=$GOMAXPROCS > /etc/env\n./s":     "",
		"GOMAXPROCS=4\necho GOMAXPROCS=$GOMAXPROCS | tee /etc/env\n./s": "",
		"GOMAXPROCS=4\nx=$(echo $GOMAXPROCS)\n./s $x":                   "",
		"GOMAXPROCS=4\ncat > env <<E\nGOMAXPROCS=$GOMAXPROCS\nE\n./s":   "",
		"GOMAXPROCS=4\nsu -c 'GOMAXPROCS=4 ./s'":                        "",
		"./s\nGOMAXPROCS=4\n":                                           "",
		"GOMAXPROCS=4\nexit 0":                                          "",
		"GOMAXPROCS=4\nexec 2>&1":                                       "",
		v1 + "export THREADS=$((q / p))\nexport GOMAXPROCS=2\n./s":      "",
		"m=$(cat memory.max)\nexport GOMAXPROCS=$((m / 2))\n./s":        "",
		"b=$(cat cpu.max.burst)\nexport GOMAXPROCS=$((b / 2))\n./s":     "",
		"export GOMAXPROCS=$(\n":                                        "", // is not shell
		"#!/usr/bin/env python3\nGOMAXPROCS = 4\nos.execv('./s')\n":     "",
	} {
		r, _ := readShell([]byte(script))
		var got []string
		for _, f := range r.faults {
			if f.kind == ofMachine && !r.applies(false) {
				continue
			}
			got = append(got, fmt.Sprintf("%d %s %s", f.line, kinds[f.kind], r.program))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%q: %q, want %q", script, text, want)
		}
	}
}

// TestScriptsThatAreNotRead: one that is started and cannot be read is named.
func TestScriptsThatAreNotRead(t *testing.T) {
	r := expectation{}.run(t, written(t, map[string]string{
		"Dockerfile":   "FROM debian:13\nENTRYPOINT [\"/large.sh\", \"/broken.sh\", \"/latin.sh\"]\n",
		"large.sh":     "#!/bin/sh\n" + strings.Repeat("# GOMAXPROCS\n", mostScript/12),
		"broken.sh":    "#!/bin/sh\nexport GOMAXPROCS=$((\n",
		"latin.sh":     "#!/bin/sh\nGOMAXPROCS=4 # f\xfcr\nexec ./s\n",
		"unstarted.sh": "#!/bin/sh\nexport GOMAXPROCS=$((\n",
	}), nil)
	if len(r.Problems) > 0 {
		t.Fatalf("%+v", r)
	}
	got := phrase.Each(r.Notes, func(n check.Note) string { return filepath.Base(n.Path) + ": " + n.Message })
	if text := strings.Join(got, "\n"); len(got) != 3 || !strings.Contains(text, "broken.sh: this script is skipped: procfit cannot parse line ") || !strings.Contains(text, "large.sh: this script is skipped: ") || !strings.Contains(text, "latin.sh: this script is skipped: procfit cannot parse line 2: ") {
		t.Errorf("%s", text)
	}
}

// FuzzReadShell holds that any text is read, and that a fault is at a place of it.
func FuzzReadShell(f *testing.F) {
	for _, text := range []string{
		"GOMAXPROCS=4\nexec ./s", "export GOMAXPROCS=$(( $(cat cpu.cfs_quota_us) / 100000 ))", ": ${GOMAXPROCS:=${!x}}", "case $1 in a) set -- $(cat cpu.max);; esac",
		"f() { read q p < cpu.max; }; GOMAXPROCS=`expr $q / $p`", "declare -A a=([x]=1); a[x]=$((1/2)); ${a[@]/x/y}", "cat <<-E | tee x\n$GOMAXPROCS\nE\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, _ := readShell([]byte(text))
		for _, one := range r.faults {
			if one.line < 1 || one.line > strings.Count(text, "\n")+1 || one.column < 1 {
				t.Errorf("%+v of %q", one, text)
			}
		}
	})
}

// TestHostileScripts bounds the time for what is nested.
func TestHostileScripts(t *testing.T) {
	for _, of := range [][3]string{{"x=$(", "GOMAXPROCS=1", ")"}, {"{ ", "./s;", " } >a;"}, {"a|", "a", ""}, {"f() { ", ":;", "};"}, {"$((", "1", "/1))"}, {"`expr ", "1", "`"}, {"x=$((1+", "1", "))"}} {
		n := mostScript / (len(of[0]) + len(of[2]) + 1)
		began := time.Now()
		readShell([]byte(strings.Repeat(of[0], n) + of[1] + strings.Repeat(of[2], n)))
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("%q: %v", of, took)
		} else {
			t.Logf("%q: %v", of, took)
		}
	}
}

// TestNoFaultInOthersScripts reads the scripts of this machine and of the modules that were
// downloaded: whoever wrote them meant what is there.
func TestNoFaultInOthersScripts(t *testing.T) {
	need.Everything(t, "reads the files of the whole machine")
	read, named := 0, 0
	modules := os.Getenv("GOMODCACHE")
	if home, err := os.UserHomeDir(); err == nil && modules == "" {
		modules = filepath.Join(home, "go", "pkg", "mod")
	}
	archives := filepath.Join(modules, "cache")
	for _, root := range []string{"/etc", "/usr/share", "/usr/bin", modules, build.Default.GOROOT} {
		_ = filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
			if root == modules && err == nil && d.IsDir() && (file == archives || strings.HasPrefix(d.Name(), "toolchain@")) {
				return filepath.SkipDir // of the releases of Go, one is enough
			}
			if err != nil || !d.Type().IsRegular() || !isScript(&check.File{Path: file}) {
				return nil
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil
			}
			read++
			if strings.Contains(string(text), variableName) {
				named++
			}
			r, _ := readShell(text)
			for _, f := range r.faults {
				if f.kind == ofMachine {
					continue // they take all CPUs on purpose
				}
				t.Errorf("%s: %+v", file, f)
			}
			return nil
		})
	}
	t.Logf("%d scripts, %d with %s", read, named, variableName)
}
