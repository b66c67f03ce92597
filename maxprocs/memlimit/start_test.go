package memlimit

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
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
		code   int64 // set in code meanwhile
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
		"malformed":              {files: limits("lots"), before: NoLimit, want: NoLimit, err: ErrMalformed, later: limits(two), then: NoLimit},
	} {
		limit, m := tc.before, place(t, tc.env, tc.files)
		var detail Result
		said := 0
		f := follower{config: configure([]Option{nil, asked(facts.Memory{}, &limit), Detail(&detail), Logger(func(string, ...any) { said++ })})}
		f.sys.read = func() facts.Memory { return m }
		follow, err := f.start()
		if limit != tc.want || follow != tc.follow || !errors.Is(err, tc.err) || said != 1 || detail.Bytes != limit {
			t.Errorf("%s: %d, follows %t, %v, %d lines, %+v; want %d, %t, %v, one line", name, limit, follow, err, said, detail, tc.want, tc.follow, tc.err)
		}
		if tc.code > 0 {
			limit = tc.code
		}
		m = place(t, tc.env, tc.later)
		for looks := 0; looks < 3 && follow; looks++ {
			follow = f.step()
		}
		if changed := tc.then != tc.want && tc.code == 0; limit != tc.then || changed != (said == 2) {
			t.Errorf("%s: later %d after %d lines, want %d", name, limit, said, tc.then)
		}
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
	for deadline := time.Now().Add(5 * time.Second); followers() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after the context ended", followers())
		}
	}
}

// followers counts the goroutines that Start has begun.
func followers() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "\ncreated by github.com/procfit/procfit/maxprocs/memlimit.Start")
}
