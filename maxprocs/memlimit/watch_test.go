package memlimit

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/must"
)

// TestStart looks at a place, then at what it has become.
func TestStart(t *testing.T) {
	limits := func(bytes string) map[string]string { return map[string]string{"pod/app/memory.max": bytes + "\n"} }
	const two, four = "2147483648", "4294967296"
	for name, tc := range map[string]struct {
		env    string
		files  map[string]string
		before int64
		want   int64
		follow bool
		err    error
		later  map[string]string
		late   string // set in the environment meanwhile
		code   int64  // set in code meanwhile
		then   int64
	}{
		"a limit that grows":     {files: limits(two), before: NoLimit, want: 1932735283, follow: true, later: limits(four), then: 3865470566},
		"one that shrinks":       {files: limits(four), before: NoLimit, want: 3865470566, follow: true, later: limits(two), then: 1932735283},
		"one that goes":          {files: limits(two), before: NoLimit, want: 1932735283, follow: true, later: limits("max"), then: NoLimit},
		"one that is unreadable": {files: limits(two), before: NoLimit, want: 1932735283, follow: true, later: limits("\x00"), then: 1932735283},
		"another set in code":    {files: limits(two), before: NoLimit, want: 1932735283, follow: true, later: limits(four), code: 5 * mib, then: 5 * mib},
		"less set in code":       {files: limits(two), before: mib, want: mib, later: limits(four), then: mib},
		"more set in code":       {files: limits(two), before: 1 << 31, want: 1932735283, follow: true, later: limits(four), then: 1 << 31},
		"no limit":               {files: limits("max"), before: NoLimit, want: NoLimit, later: limits(two), then: NoLimit},
		"the environment":        {env: "GOMEMLIMIT=1GiB", files: limits(two), before: 1 << 30, want: 1 << 30, later: limits(four), then: 1 << 30},
		"set too late":           {env: "GOMEMLIMIT=1GiB", files: limits(two), before: NoLimit, want: 1932735283, follow: true, later: limits(four), then: 3865470566},
		"off, set after Start":   {files: limits(two), before: NoLimit, want: 1932735283, follow: true, late: "GOMEMLIMIT=off", later: limits(four), then: 3865470566},
		"malformed":              {files: limits("lots"), before: NoLimit, want: NoLimit, err: ErrMalformed, later: limits(two), then: NoLimit},
	} {
		limit, m := tc.before, place(t, tc.env, tc.files)
		var detail Result
		said := 0
		w := watcher{config: configure([]Option{nil, following(&m, &limit), Hold(0), Detail(&detail), Logger(func(string, ...any) { said++ })}), now: time.Now}
		follow, err := w.start()
		if limit != tc.want || follow != tc.follow || !errors.Is(err, tc.err) || said != 1 || detail.Bytes != limit {
			t.Errorf("%s: %d, follows %t, %v, %d lines, %+v; want %d, %t, %v, one line", name, limit, follow, err, said, detail, tc.want, tc.follow, tc.err)
		}
		if tc.code > 0 {
			limit = tc.code
		}
		m = place(t, tc.env+tc.late, tc.later)
		for looks := 0; looks < 3 && follow; looks++ {
			follow = !w.step()
		}
		if detail.Bytes != tc.want {
			t.Errorf("%s: after Start has returned, its caller's Result becomes %+v", name, detail)
		}
		news := tc.then != tc.want && tc.code == 0 || tc.later["pod/app/memory.max"] == "\x00\n"
		if limit != tc.then || news != (said == 2) {
			t.Errorf("%s: later %d after %d lines, want %d", name, limit, said, tc.then)
		}
	}
}

// TestWatchSteps shows a watcher a place that changes; a look is a second after the
// one before.
func TestWatchSteps(t *testing.T) {
	const none = "max"
	type look struct {
		max, parent string // memory.max; "" leaves it
		code        int64  // set in code before the look
		want        int64
	}
	for name, tc := range map[string]struct {
		before  int64
		options []Option
		looks   []look
		changes int
	}{
		"less is used at once":                  {NoLimit, nil, []look{{"1000", "", 0, 900}, {"500", "", 0, 450}, {"", "200", 0, 180}}, 3},
		"more at the first look":                {100, nil, []look{{"1000", "", 0, 900}}, 1},
		"more must last":                        {NoLimit, nil, []look{{"1000", "", 0, 900}, {"2000", "", 0, 900}, {"", "", 0, 900}, {"", "", 0, 900}, {"", "", 0, 1800}}, 2},
		"the least of it counts":                {NoLimit, nil, []look{{"1000", "", 0, 900}, {"2000", "", 0, 900}, {"1500", "", 0, 900}, {"3000", "", 0, 900}, {"", "", 0, 1350}}, 2},
		"a moment's raise is not followed":      {NoLimit, nil, []look{{"1000", "", 0, 900}, {"2000", "", 0, 900}, {"1000", "", 0, 900}, {"2000", "", 0, 900}, {"", "", 0, 900}, {"", "", 0, 900}}, 1},
		"without hold":                          {NoLimit, []Option{Hold(0)}, []look{{"1000", "", 0, 900}, {"2000", "", 0, 1800}}, 2},
		"removed":                               {5000, []Option{Hold(0)}, []look{{"1000", "", 0, 900}, {none, "", 0, 5000}}, 2},
		"none yet":                              {5000, nil, []look{{none, "", 0, 5000}, {"1000", "", 0, 900}}, 1},
		"an ancestor's is removed":              {NoLimit, []Option{Hold(0)}, []look{{"1000", "500", 0, 450}, {"", none, 0, 900}}, 2},
		"unknown is not raised":                 {NoLimit, []Option{Hold(0)}, []look{{"1000", "", 0, 900}, {"2000", "lots", 0, 900}, {"500", "", 0, 450}, {"2000", none, 0, 1800}}, 3},
		"set in code, above and below":          {NoLimit, []Option{Hold(0)}, []look{{"1000", "", 0, 900}, {"", "", 9000, 900}, {"", "", 10, 900}}, 3},
		"never above the limit":                 {NoLimit, []Option{Headroom(600)}, []look{{"1000", "", 0, 400}, {"500", "", 0, 400}, {"300", "", 0, 300}, {"", "", 0, 300}}, 2},
		"never above the limit, from the first": {NoLimit, []Option{Headroom(600)}, []look{{"500", "", 0, 500}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"pod/app/memory.max": none + "\n", "pod/memory.max": none + "\n"}
			limit, m, now, changes := tc.before, facts.Memory{}, time.Unix(0, 0), 0
			onChange := OnChange(func(r Result) {
				changes++
				if r.Action != Changed || r.Bytes != limit || r.Before == r.Bytes || r.String() == "" {
					t.Errorf("told of %+v, at %d", r, limit)
				}
			})
			options := append([]Option{Hold(3 * time.Second), following(&m, &limit), onChange}, tc.options...)
			w := watcher{config: configure(options), before: tc.before, now: func() time.Time { return now }}
			for i, l := range tc.looks {
				for file, text := range map[string]string{"pod/app/memory.max": l.max, "pod/memory.max": l.parent} {
					if text != "" {
						files[file] = text + "\n"
					}
				}
				m = place(t, "", files)
				if l.code > 0 {
					limit = l.code
				}
				if w.step() || limit != l.want {
					t.Errorf("look %d: %d, want %d", i, limit, l.want)
				}
				now = now.Add(time.Second)
			}
			if changes != tc.changes {
				t.Errorf("told of %d changes, want %d", changes, tc.changes)
			}
		})
	}
}

// What cannot be read is logged once, though nothing changes: Watch returns no error for it.
func TestWatchLogsWhatIsUnknown(t *testing.T) {
	limit, m, lines := int64(NoLimit), facts.Memory{}, 0
	w := watcher{config: configure([]Option{following(&m, &limit), Logger(func(string, ...any) { lines++ })}), before: limit, now: time.Now}
	for i, look := range []struct {
		max   string
		lines int
	}{{"lots", 1}, {"lots", 1}, {"max", 1}, {"lots", 2}, {"more", 3}} {
		m = place(t, "", map[string]string{"pod/app/memory.max": look.max + "\n"})
		if w.step(); lines != look.lines {
			t.Fatalf("look %d: %d lines, want %d", i, lines, look.lines)
		}
	}
}

// Between two surveys only the known files are read; a move to another group, which is in
// none of them, is noticed by the next survey.
func TestWatchSurveys(t *testing.T) {
	limit, reads, now := int64(NoLimit), 0, time.Unix(0, 0)
	m := place(t, "", map[string]string{"pod/app/memory.max": "1000\n"})
	w := watcher{config: configure(nil), now: func() time.Time { return now }}
	following(&m, &limit)(&w.config)
	w.sys.read = func() facts.Memory { reads++; return m }
	w.sys.changed = func(facts.Memory) bool { return false }
	for i := 0; i < 100; i++ {
		w.step()
		now = now.Add(DefaultPeriod)
		if i == 50 {
			m = place(t, "", map[string]string{"pod/app/memory.max": "500\n"})
		}
	}
	if reads != 1 || limit != 900 {
		t.Errorf("%d surveys within %v, at %d; want one, 900", reads, survey, limit)
	}
	if w.step(); reads != 2 || limit != 450 {
		t.Errorf("%d surveys after %v, at %d; want two, 450", reads, survey, limit)
	}
}

// Nothing runs after Watch has returned; a valid environment and a wrong option end it.
func TestWatchEnds(t *testing.T) {
	limit := int64(NoLimit)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := place(t, "", map[string]string{"pod/app/memory.max": "1000\n"})
	if err := Watch(ctx, asked(m, &limit), Period(time.Millisecond), OnChange(func(Result) { cancel() })); !errors.Is(err, context.Canceled) || limit != 900 {
		t.Errorf("%v, at %d", err, limit)
	}
	said := 0
	limit = 1 << 30
	if err := Watch(context.Background(), asked(place(t, "GOMEMLIMIT=1GiB", map[string]string{"pod/app/memory.max": "1000\n"}), &limit),
		Logger(func(string, ...any) { said++ })); err != nil || limit != 1<<30 || said != 1 {
		t.Errorf("with a valid environment: %v, at %d, %d lines", err, limit, said)
	}
	if err := Watch(context.Background(), Ratio(2)); !errors.Is(err, ErrOption) {
		t.Errorf("with a wrong option: %v", err)
	}
}

// Where nothing is to be done nothing runs afterwards, and a logger's panic ends nothing.
func TestStartLeavesNoGoroutine(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	limit, panics := int64(NoLimit), Logger(func(string, ...any) { panic("no") })
	if err := Start(ctx, asked(place(t, "", nil), &limit), panics); err != nil || followers() != 0 {
		t.Errorf("%v, %d goroutines", err, followers())
	}
	if err := Start(ctx, Ratio(2)); !errors.Is(err, ErrOption) || followers() != 0 {
		t.Errorf("%v, %d goroutines", err, followers())
	}
	if err := Start(ctx, asked(place(t, "", map[string]string{"pod/app/memory.max": "1000000\n"}), &limit), panics, nil); err != nil || limit != 900000 || followers() != 1 {
		t.Errorf("under a limit: %v, %d, %d goroutines", err, limit, followers())
	}
	cancel()
	must.Until(t, "without the goroutine", func() bool { return followers() == 0 })
}

// followers counts the goroutines that Start has started.
func followers() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "\ncreated by github.com/procfit/procfit/maxprocs/memlimit.Start")
}
