package memlimit

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/must"
)

const mib = 1 << 20

// place is a process in the group /pod/app on cgroup v2, with what its files hold;
// "\x00" is a directory in the place of one, which cannot be read.
func place(t *testing.T, env string, files map[string]string) facts.Memory {
	t.Helper()
	tree := fstest.MapFS{
		"proc/self/cgroup":                   {Data: []byte("0::/pod/app\n")},
		"proc/self/mountinfo":                {Data: []byte("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")},
		"proc/self/environ":                  {Data: []byte(env)},
		"sys/fs/cgroup/pod/app/cgroup.procs": {},
	}
	for name, text := range files {
		if text == "\x00" {
			tree["sys/fs/cgroup/"+name] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			continue
		}
		tree["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return must.Get(facts.ReadMemoryFS(tree, 0))(t)
}

func TestDecide(t *testing.T) {
	gib2 := map[string]string{"pod/app/memory.max": "2147483648\n"}
	for name, tc := range map[string]struct {
		files    map[string]string
		rule     Rule
		want     int64
		standing Standing
		reason   string
	}{
		"nine tenths":       {gib2, Rule{}, 1932735283, Limited, `/sys/fs/cgroup/pod/app/memory.max: "2147483648" limits it to 2GiB` + "\n  90% of it is 1843MiB"},
		"a ratio":           {gib2, Rule{Ratio: 0.5}, 1 << 30, Limited, "50% of it is 1GiB"},
		"all of it":         {gib2, Rule{Ratio: 1}, 1 << 31, Limited, "limits it"},
		"a headroom":        {gib2, Rule{Headroom: 48 * mib}, 2000 * mib, Limited, "48MiB of it is reserved for memory outside the Go runtime: 2GiB − 48MiB"},
		"both":              {gib2, Rule{Ratio: 0.5, Headroom: 24 * mib}, 1000 * mib, Limited, "1GiB − 24MiB"},
		"no room":           {gib2, Rule{Headroom: 1 << 31}, NoLimit, NoRoom, "nothing is left"},
		"a ratio too large": {gib2, Rule{Ratio: 2}, 1932735283, Limited, "90%"},
		"NaN":               {gib2, Rule{Ratio: math.NaN()}, 1932735283, Limited, "90%"},
		"a limit of zero":   {map[string]string{"pod/app/memory.max": "0\n"}, Rule{}, NoLimit, NoRoom, "nothing is left"},
		"no file":           {nil, Rule{}, NoLimit, Unlimited, "no memory limit is known"},
		"max":               {map[string]string{"pod/app/memory.max": "max\n", "pod/app/memory.high": "max\n"}, Rule{}, NoLimit, Unlimited, "nothing to do"},
		"an ancestor's": {map[string]string{"pod/app/memory.max": "4194304\n", "pod/memory.max": "2097152\n"}, Rule{Ratio: 1}, 2 * mib, Limited,
			"the limit of /sys/fs/cgroup/pod/memory.max is the tightest"},
		"high": {map[string]string{"pod/app/memory.max": "4194304\n", "pod/app/memory.high": "2097152\n"}, Rule{Ratio: 1}, 2 * mib, Limited,
			`/sys/fs/cgroup/pod/app/memory.high: "2097152" slows it down above 2MiB`},
		"malformed, and another": {map[string]string{"pod/app/memory.max": "2g\n", "pod/memory.max": "2097152\n"}, Rule{Ratio: 1}, 2 * mib, Limited, `a limit is malformed and is not used: /sys/fs/cgroup/pod/app/memory.max: expected a number of bytes, got "2g\n"`},
	} {
		d := Decide(place(t, "", tc.files), tc.rule)
		if d.Bytes != tc.want || d.Standing != tc.standing || !strings.Contains(d.String(), tc.reason) {
			t.Errorf("%s: %s %d, want %s %d with %q:\n%s", name, d.Standing, d.Bytes, tc.standing, tc.want, tc.reason, d)
		}
	}
}

func TestRuntime(t *testing.T) {
	for env, want := range map[string]string{
		"":                             "default off: GOMEMLIMIT is not in its environment",
		"GOMEMLIMIT=\x00":              "default off: GOMEMLIMIT is empty",
		"GOMEMLIMIT=off\x00":           `env off: GOMEMLIMIT="off" is set`,
		"A=1\x00GOMEMLIMIT=2GiB":       `env 2GiB: GOMEMLIMIT="2GiB" is set`,
		"GOMEMLIMIT=2GB\x00":           `default off: GOMEMLIMIT="2GB" in the environment is malformed`,
		"AUTOMEMLIMIT=0.5\x00":         "default off: GOMEMLIMIT is not in its environment",
		"GOMEMLIMIT=1\x00GOMEMLIMIT=2": `env 1: `,
	} {
		d := Runtime(place(t, env, nil))
		got := fmt.Sprintf("%s %s: %s", d.Standing, Format(d.Bytes), strings.Join(d.Reasons, "; "))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", env, got, want)
		}
	}
}

// asked is Set on facts of the test's own; the runtime's limit is a variable.
func asked(m facts.Memory, limit *int64) Option { return following(&m, limit) }

// following is Watch on facts that change.
func following(m *facts.Memory, limit *int64) Option {
	return func(c *config) {
		c.sys = system{read: func() facts.Memory { return *m }, changed: func(seen facts.Memory) bool { return !reflect.DeepEqual(seen, *m) }, limit: func(n int64) int64 {
			before := *limit
			if n >= 0 {
				*limit = n
			}
			return before
		}}
	}
}

func TestSet(t *testing.T) {
	two := map[string]string{"pod/app/memory.max": "2147483648\n"}
	unread := map[string]string{"pod/app/memory.max": "2147483648\n", "pod/memory.max": "\x00"}
	malformed := map[string]string{"pod/app/memory.max": "2147483648\n", "pod/memory.max": "x\n"}
	for name, tc := range map[string]struct {
		env    string
		files  map[string]string
		before int64
		opts   []Option
		action Action
		want   int64
		err    error
		line   string
	}{
		"a limit":             {"", two, NoLimit, nil, Changed, 1932735283, nil, "GOMEMLIMIT=1843MiB: was off; /sys"},
		"raised":              {"", two, 1 << 20, nil, Changed, 1932735283, nil, "was 1MiB"},
		"right already":       {"", two, 1932735283, nil, Kept, 1932735283, nil, "GOMEMLIMIT=1843MiB: kept; "},
		"options":             {"", two, NoLimit, []Option{Ratio(0.5), Headroom(24 * mib)}, Changed, 1000 * mib, nil, "1000MiB"},
		"no limit":            {"", nil, 5, nil, Kept, 5, nil, "GOMEMLIMIT=5: kept; no memory limit is known"},
		"the environment":     {"GOMEMLIMIT=1GiB", two, 1 << 30, nil, KeptEnv, 1 << 30, nil, `GOMEMLIMIT=1GiB: GOMEMLIMIT="1GiB" is set in the environment`},
		"set too late":        {"GOMEMLIMIT=1GiB", two, NoLimit, nil, Changed, 1932735283, nil, `; GOMEMLIMIT="1GiB" in the environment was set too late, or code has set another`},
		"off is a wish too":   {"GOMEMLIMIT=off", two, NoLimit, nil, KeptEnv, NoLimit, nil, "off"},
		"empty is none":       {"GOMEMLIMIT=", two, NoLimit, nil, Changed, 1932735283, nil, `GOMEMLIMIT="" in the environment sets no limit, so it is ignored`},
		"not automemlimit's":  {"AUTOMEMLIMIT=off", two, NoLimit, nil, Changed, 1932735283, nil, ""},
		"unreadable, lowered": {"", unread, NoLimit, nil, Changed, 1932735283, ErrUnreadable, "a limit is unreadable"},
		"unreadable, kept":    {"", unread, 1 << 20, nil, NotRaised, 1 << 20, ErrUnreadable, "not raised, because not all limits are known"},
		"malformed":           {"", malformed, NoLimit, nil, Changed, 1932735283, ErrMalformed, "malformed"},
		"nothing left":        {"", two, 7, []Option{Headroom(1 << 31)}, Kept, 7, ErrNoRoom, "nothing is left"},
		"ratio 0":             {"", two, 7, []Option{Ratio(0)}, "", 7, ErrOption, ""},
		"ratio above 1":       {"", two, 7, []Option{Ratio(1.1)}, "", 7, ErrOption, ""},
		"ratio NaN":           {"", two, 7, []Option{Ratio(math.NaN())}, "", 7, ErrOption, ""},
		"headroom below 0":    {"", two, 7, []Option{Headroom(-1)}, "", 7, ErrOption, ""},
	} {
		var r Result
		var line string
		limit := tc.before
		log := func(format string, args ...any) { line += fmt.Sprintf(format, args...) }
		undo, err := Set(append(tc.opts, asked(place(t, tc.env, tc.files), &limit), Detail(&r), Logger(log))...)
		if limit != tc.want || r.Action != tc.action || !errors.Is(err, tc.err) || !strings.Contains(line, tc.line) {
			t.Errorf("%s: %d %s, %v, %q; want %d %s, %v, %q", name, limit, r.Action, err, line, tc.want, tc.action, tc.err, tc.line)
		}
		if name == "ratio 0" && !strings.Contains(err.Error(), "a ratio of 0;") {
			t.Errorf("%s: %v does not say what was given", name, err)
		}
		if r.Action != "" && (r.Bytes != limit || r.Before != tc.before) {
			t.Errorf("%s: the result has %d and %d", name, r.Before, r.Bytes)
		}
		if undo(); limit != tc.before {
			t.Errorf("%s: after the undo %d, was %d", name, limit, tc.before)
		}
	}
}

// TestSetLive: whatever limits there are here, the undo leaves nothing behind.
func TestSetLive(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	var r Result
	undo, err := Set(Detail(&r))
	t.Logf("%s (%v)", r, err)
	if now := debug.SetMemoryLimit(-1); now != r.Bytes || r.Before != before {
		t.Errorf("GOMEMLIMIT is %d, was %d; the result: %+v", now, before, r)
	}
	if undo(); debug.SetMemoryLimit(-1) != before {
		t.Errorf("after the undo %d, was %d", debug.SetMemoryLimit(-1), before)
	}
}
