// Package wrapper reads commands that start another command: env, nice, tini, taskset.
//
// # Model
//
// [Next] takes one wrapper off a command, with its options, and says what that does to the
// environment and the CPUs of what it starts. A table has the options that take an argument and the
// number of words that come before the wrapped command.
//
// # Limits
//
// What a shell does is not read here: [Script] only finds the text after -c, behind any options.
package wrapper

import (
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/host/cpuset"
)

// Effect is what wrappers do to the program.
type Effect struct {
	Set    map[string]string // variables
	Unset  []string
	Clears bool   // the environment is empty but for Set
	CPUs   int    // that it is bound to; 0: none
	Adds   string // the wrapper that may set any variable; "": none
	Binds  string // the wrapper that binds it to CPUs that are not known; "": none
}

type wrapped struct {
	with   string   // short options that have an argument
	long   []string // long options that have one in the next word
	before int      // words before the command
	adds   bool     // it may set any variable
}

var wrappers = map[string]wrapped{
	"tini": {with: "pe"}, "tini-static": {with: "pe"}, "docker-init": {with: "pe"}, "dumb-init": {with: "r", long: []string{"rewrite"}},
	"catatonit": {}, "busybox": {}, "toybox": {}, "prlimit": {},
	"gosu": {before: 1}, "su-exec": {before: 1}, "setuidgid": {before: 1}, "s6-setuidgid": {before: 1},
	"setpriv": {long: []string{"ruid", "euid", "rgid", "egid", "reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set", "securebits", "pdeathsig", "selinux-label", "apparmor-profile"}},
	"nice":    {with: "n", long: []string{"adjustment"}}, "ionice": {with: "cnpPu", long: []string{"class", "classdata"}},
	"chrt": {with: "TPD", long: []string{"sched-runtime", "sched-period", "sched-deadline"}, before: 1}, "timeout": {with: "ks", long: []string{"kill-after", "signal"}, before: 1},
	"stdbuf": {with: "ioe", long: []string{"input", "output", "error"}}, "nohup": {}, "setsid": {}, "time": {with: "fo", long: []string{"format", "output"}},
	"exec": {with: "a"}, "env": {with: "uCS", long: []string{"unset", "chdir", "split-string"}},
	"taskset": {}, "numactl": {with: "CNmipP", long: []string{"physcpubind", "cpunodebind", "membind", "interleave", "preferred"}},
	"chamber": {adds: true}, "doppler": {adds: true}, "op": {adds: true}, "vault-env": {adds: true}, "infisical": {adds: true}, "envconsul": {adds: true},
	"envdir": {adds: true}, "s6-envdir": {adds: true}, "chpst": {adds: true}, "with-contenv": {adds: true}, "dotenv": {adds: true},
	"sudo": {adds: true}, "su": {adds: true}, "doas": {adds: true}, "runuser": {adds: true}, "systemd-run": {adds: true}, // or take away
}

// Is reports whether a word starts one.
func Is(word string) bool {
	_, is := wrappers[path.Base(word)]
	return is
}

// Next is the command that a wrapper starts; false: the first word is none.
func Next(argv []string, e *Effect) (rest []string, ok bool) {
	if len(argv) == 0 {
		return argv, false
	}
	name := path.Base(argv[0])
	w, ok := wrappers[name]
	if !ok {
		return argv, false
	}
	if w.adds {
		e.Adds = name
		return nil, true
	}
	rest, options := w.options(argv[1:])
	if name == "env" && len(rest) > 0 && rest[0] == "-" { // a lone one is -i
		options["i"], rest = "", rest[1:]
	}
	for name == "env" && len(rest) > 0 {
		key, value, assigned := strings.Cut(rest[0], "=")
		if !assigned {
			break
		}
		if e.Set == nil {
			e.Set = map[string]string{}
		}
		e.Set[key] = value
		rest = rest[1:]
	}
	has := func(short, long string) bool {
		_, is := options[short]
		_, isLong := options[long]
		return is || isLong
	}
	before := w.before
	switch name {
	case "env":
		e.Clears = e.Clears || has("i", "ignore-environment")
		e.Unset = append(e.Unset, strings.Fields(options["u"]+" "+options["unset"])...)
		if text := options["S"] + options["split-string"]; text != "" {
			return Next(slices.Concat([]string{"env"}, strings.Fields(text), rest), e)
		}
	case "setpriv":
		e.Clears = e.Clears || has("reset-env", "reset-env")
	case "taskset":
		before = 1
		if len(rest) > 0 {
			e.bind(name, rest[0], has("c", "cpu-list"))
		}
	case "numactl":
		if list := options["C"] + options["physcpubind"]; list != "" {
			e.bind(name, list, true)
		}
		if options["N"]+options["cpunodebind"] != "" {
			e.Binds = name
		}
	}
	return rest[min(before, len(rest)):], true
}

// bind takes a list of CPUs, or a mask in hexadecimal digits.
func (e *Effect) bind(name, text string, list bool) {
	n := 0
	if cpus, err := cpuset.Parse(text); list && err == nil {
		n = len(cpus)
	} else if mask, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64); !list && err == nil {
		n = bits.OnesCount64(mask)
	}
	if n == 0 {
		e.Binds = name
		return
	}
	e.CPUs = n
}

// options are those before the first word that is none, with their arguments; of one that is there more
// often, its arguments are separated by spaces.
func (w wrapped) options(words []string) (rest []string, found map[string]string) {
	found = map[string]string{}
	add := func(name, value string) { found[name] = strings.TrimSpace(found[name] + " " + value) }
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		word := words[0]
		words = words[1:]
		argument := func() (value string) {
			if len(words) > 0 {
				value, words = words[0], words[1:]
			}
			return value
		}
		if word == "--" {
			break
		}
		if long, ok := strings.CutPrefix(word, "--"); ok {
			name, value, given := strings.Cut(long, "=")
			if !given && slices.Contains(w.long, name) {
				value = argument()
			}
			add(name, value)
			continue
		}
		for i, letter := range word[1:] {
			if !strings.ContainsRune(w.with, letter) {
				add(string(letter), "")
				continue
			}
			value := word[1+i+1:]
			if value == "" {
				value = argument()
			}
			add(string(letter), value)
			break
		}
	}
	return words, found
}

// shells run the word after -c.
var shells = []string{"sh", "bash", "ash", "dash", "zsh", "ksh"}

// IsShell reports whether a word starts a shell.
func IsShell(word string) bool { return slices.Contains(shells, path.Base(word)) }

// Script is the text that a shell runs after -c, and the file that it runs without; neither: it
// is no shell, or it reads its standard input. Exports reports -a, with which every
// assignment is exported.
func Script(argv []string) (text, file string, exports bool) {
	if len(argv) == 0 || !IsShell(argv[0]) {
		return "", "", false
	}
	words, command := argv[1:], false
	for len(words) > 0 && len(words[0]) > 1 && (words[0][0] == '-' || words[0][0] == '+') {
		word := words[0]
		words = words[1:]
		if word == "--" {
			break
		}
		if strings.HasPrefix(word, "--") {
			if slices.Contains([]string{"--rcfile", "--init-file"}, word) && len(words) > 0 {
				words = words[1:]
			}
			continue
		}
		command = command || strings.Contains(word, "c")
		exports = exports || word[0] == '-' && strings.Contains(word, "a")
		for range strings.Count(strings.ToLower(word), "o") { // of names, such as pipefail
			if len(words) > 0 {
				exports = exports || words[0] == "allexport"
				words = words[1:]
			}
		}
	}
	switch {
	case len(words) == 0:
		return "", "", exports
	case command:
		return words[0], "", exports
	}
	return "", words[0], exports
}
