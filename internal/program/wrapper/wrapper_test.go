package wrapper

import (
	"fmt"
	"strings"
	"testing"
)

// TestNext takes all wrappers off a command.
func TestNext(t *testing.T) {
	for command, want := range map[string]string{
		"/app -v":                                        "/app -v",
		"/sbin/tini -- env GOMAXPROCS=64 /app":           "/app GOMAXPROCS=64",
		"tini -g -p SIGTERM -s /app":                     "/app",
		"dumb-init -r 15:2 -- /app":                      "/app",
		"dumb-init --rewrite 15:2 /app":                  "/app",
		"catatonit -- /app":                              "/app",
		"gosu app:app env A=1 GOMAXPROCS=64 /app":        "/app A=1 GOMAXPROCS=64",
		"su-exec app nice -n 5 /app":                     "/app",
		"nice -5 /app":                                   "/app",
		"nice --adjustment=5 ionice -c2 -n 7 /app":       "/app",
		"chrt -f 10 timeout -k 5s 1h stdbuf -oL /app":    "/app",
		"timeout --signal=KILL 10 nohup time -f %e /app": "/app",
		"setpriv --reuid 1000 --clear-groups /app":       "/app",
		"setpriv --reuid=1000 --reset-env /app":          "/app clears",
		"env -i PATH=/bin /app":                          "/app PATH=/bin clears",
		"env - PATH=/bin /app":                           "/app PATH=/bin clears",
		"env -u GOMAXPROCS - /app":                       "/app unset [GOMAXPROCS] clears",
		"env -u GOMAXPROCS /app":                         "/app unset [GOMAXPROCS]",
		"env -iS /app":                                   "/app clears",
		"env -u A -S GOMAXPROCS=8 /app":                  "/app GOMAXPROCS=8 unset [A]",
		"env -u GOMAXPROCS --unset=A -uB /app":           "/app unset [GOMAXPROCS B A]",
		"env -uGOMAXPROCS -C /srv -- /app":               "/app unset [GOMAXPROCS]",
		"taskset -c 0 /app":                              "/app 1 CPUs",
		"taskset -c 0-3,8 /app":                          "/app 5 CPUs",
		"taskset 0xf0 /app":                              "/app 4 CPUs",
		"taskset ff /app":                                "/app 8 CPUs",
		"taskset -c $CPUS /app":                          "/app bound by taskset",
		"numactl -C 0-1 -m 0 /app":                       "/app 2 CPUs",
		"numactl --physcpubind=0,2 --membind 0 /app":     "/app 2 CPUs",
		"numactl -N 0 /app":                              "/app bound by numactl",
		"exec -a name /app":                              "/app",
		"chamber exec api -- /app":                       " adds chamber",
		"sudo -u app /app":                               " adds sudo",
		"busybox env GOMAXPROCS=64 /app":                 "/app GOMAXPROCS=64",
		"prlimit --nofile=1024 -c0 /app":                 "/app",
		"tini":                                           "",
		"taskset":                                        "",
		"timeout":                                        "",
	} {
		var e Effect
		argv := strings.Fields(command)
		for ok := true; ok; {
			argv, ok = Next(argv, &e)
		}
		got := strings.Join(argv, " ")
		for _, name := range []string{"A", "GOMAXPROCS", "PATH"} {
			if value, set := e.Set[name]; set {
				got += " " + name + "=" + value
			}
		}
		if len(e.Unset) > 0 {
			got += fmt.Sprint(" unset ", e.Unset)
		}
		if e.Clears {
			got += " clears"
		}
		if e.CPUs > 0 {
			got += fmt.Sprintf(" %d CPUs", e.CPUs)
		}
		if e.Binds != "" {
			got += " bound by " + e.Binds
		}
		if e.Adds != "" {
			got += " adds " + e.Adds
		}
		if got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestScript(t *testing.T) {
	for command, want := range map[string]string{
		"sh -c text":                          "text|",
		"bash -euo pipefail -c text arg":      "text|",
		"/bin/bash --login -ec text":          "text|",
		"bash -o pipefail -o errexit -c text": "text|",
		"sh -ac text":                         "text| exports",
		"bash --norc entry.sh -c x":           "|entry.sh",
		"sh -e /start":                        "|/start",
		"sh":                                  "|",
		"/app -c text":                        "|",
	} {
		text, file, exports := Script(strings.Fields(command))
		got := text + "|" + file
		if exports {
			got += " exports"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func FuzzNext(f *testing.F) {
	f.Add("env -S env -u A taskset -c 0 /app")
	f.Fuzz(func(t *testing.T, command string) {
		argv := strings.Fields(command)
		if len(argv) > 100 {
			return
		}
		var e Effect
		for ok := true; ok; {
			argv, ok = Next(argv, &e)
		}
		Script(argv)
	})
}
