package live

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs"
	"github.com/procfit/procfit/maxprocs/internal/gort"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

const mine, theirs = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"

// do asks the endpoint, and returns the status and the code of a refusal.
func do(t *testing.T, a *Agent, method, what, body string, header ...string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, "/internal/"+what, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	answer := map[string]any{}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s %s: %v: %s", method, what, err, w.Body)
	}
	return w.Code, answer
}

// wants asks, and compares the status and the code.
func wants(t *testing.T, a *Agent, what, body string, status int, code string) map[string]any {
	t.Helper()
	got, answer := do(t, a, "POST", what, body)
	if s, _ := answer["error"].(string); got != status || s != code {
		t.Errorf("POST %s %s: %d %q, want %d %q: %v", what, body, got, s, status, code, answer)
	}
	return answer
}

// started sets GOMAXPROCS for a test.
func started(t *testing.T, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func take(ttl string) string { return `{"lease": "` + mine + `", "ttl_ms": ` + ttl + `}` }
func set(n string) string    { return `{"lease": "` + mine + `", "procs": ` + n + `}` }

func TestAgentLease(t *testing.T) {
	started(t, 4)
	var switches []Switch
	a := New(new(Meter), nil, OnSwitch(func(s Switch) { switches = append(switches, s); panic("ignored") }))
	wants(t, a, "procs", set("2"), 410, "no_lease")
	wants(t, a, "lease", take("5000"), 200, "")
	wants(t, a, "lease", strings.Replace(take("5000"), mine, theirs, 1), 409, "leased")
	if got := wants(t, a, "procs", set("2"), 200, ""); got["before"] != 4.0 || got["procs"] != 2.0 || runtime.GOMAXPROCS(0) != 2 {
		t.Errorf("got %v, GOMAXPROCS %d", got, runtime.GOMAXPROCS(0))
	}
	wants(t, a, "procs", set("3"), 429, "too_often")
	wants(t, a, "procs", set("5"), 400, "procs")
	wants(t, a, "procs", set("0"), 400, "procs")
	wants(t, a, "procs", set("4"), 200, "") // back is always allowed
	a.last.At = 0
	wants(t, a, "procs", `{"lease": "`+mine+`", "procs": 1, "seq": 7}`, 200, "")
	wants(t, a, "procs", `{"lease": "`+mine+`", "procs": 1, "seq": 7}`, 200, "") // a lost answer
	if _, s := do(t, a, "GET", "state", ""); s["switches"] != 3.0 || s["start"] != 4.0 || s["procs"] != 1.0 || s["leased"] != true || s["max"] != 4.0 {
		t.Errorf("state %v", s)
	}
	wants(t, a, "release", `{"lease": "`+theirs+`"}`, 410, "no_lease")
	wants(t, a, "release", `{"lease": "`+mine+`"}`, 200, "")
	if runtime.GOMAXPROCS(0) != 4 || len(switches) != 4 || switches[3] != (Switch{1, 4, "the experiment released it"}) {
		t.Errorf("GOMAXPROCS %d, %v", runtime.GOMAXPROCS(0), switches)
	}
	wants(t, a, "release", `{"lease": "`+mine+`"}`, 410, "no_lease")
}

func TestAgentRunsOut(t *testing.T) {
	started(t, 4)
	restored := make(chan Switch, 2)
	a := New(new(Meter), OnSwitch(func(s Switch) { restored <- s }))
	from := time.Now()
	wants(t, a, "lease", take("500"), 200, "")
	wants(t, a, "procs", set("1"), 200, "")
	<-restored // the experiment's own
	if s := <-restored; s != (Switch{1, 4, "the lease ran out"}) || runtime.GOMAXPROCS(0) != 4 {
		t.Errorf("%+v, GOMAXPROCS %d", s, runtime.GOMAXPROCS(0))
	}
	if took := time.Since(from); took < 500*time.Millisecond {
		t.Errorf("the lease of 500 ms ended after %s", took)
	}
	if _, s := do(t, a, "GET", "state", ""); s["ended"] != "the lease ran out" || s["leased"] != false {
		t.Errorf("state %v", s)
	}
	wants(t, a, "lease", take("5000"), 200, "") // and there can be another
	a.Off()
	a.Off()
	wants(t, a, "lease", take("5000"), 403, "off")
}

// Something else that sets GOMAXPROCS wins; package maxprocs does not, under a lease.
func TestAgentOthers(t *testing.T) {
	started(t, 4)
	a := New(new(Meter))
	wants(t, a, "lease", take("5000"), 200, "")
	wants(t, a, "procs", set("1"), 200, "")
	var r maxprocs.Result
	undo, _ := maxprocs.Set(maxprocs.Min(3), maxprocs.Max(3), maxprocs.Detail(&r))
	undo()
	if runtime.GOMAXPROCS(0) != 1 || r.Action != maxprocs.Leased && r.Action != maxprocs.Kept {
		t.Errorf("Set under a lease: GOMAXPROCS %d, %s", runtime.GOMAXPROCS(0), r)
	}
	runtime.GOMAXPROCS(3)
	wants(t, a, "procs", set("2"), 409, "set_by_other")
	if runtime.GOMAXPROCS(0) != 3 {
		t.Errorf("GOMAXPROCS is %d, want what the other has set", runtime.GOMAXPROCS(0))
	}
	wants(t, a, "procs", set("2"), 410, "no_lease")
	b := New(new(Meter))
	wants(t, a, "lease", take("5000"), 200, "")
	wants(t, b, "lease", take("5000"), 409, "leased") // of another Agent
	a.place.affinity++
	wants(t, a, "lease", take("5000"), 410, "no_lease")
	wants(t, b, "lease", take("5000"), 200, "")
	b.Off()
}

// What something else sets before the experiment has set anything is kept, too.
func TestOthersFirst(t *testing.T) {
	started(t, 4)
	a := New(new(Meter))
	wants(t, a, "lease", take("5000"), 200, "")
	runtime.GOMAXPROCS(3)
	wants(t, a, "procs", set("2"), 409, "set_by_other")
	wants(t, a, "lease", take("5000"), 200, "")
	runtime.GOMAXPROCS(2)
	wants(t, a, "lease", take("5000"), 409, "set_by_other")
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("GOMAXPROCS is %d, want 2, which the other has set", n)
	}
	a.Off()
}

func TestAgentRefuse(t *testing.T) {
	started(t, 4)
	var no error
	a := New(new(Meter), Refuse(func() error { return no }), Min(2), Max(6), Unit("message"))
	no = errors.New("draining")
	wants(t, a, "lease", take("5000"), 503, "refused")
	no = nil
	wants(t, a, "lease", take("5000"), 200, "")
	wants(t, a, "procs", set("1"), 400, "procs")
	wants(t, a, "procs", set("6"), 200, "")
	a.last.At = 0
	no = errors.New("draining")
	if got := wants(t, a, "procs", set("3"), 503, "refused"); got["detail"] != "draining" || runtime.GOMAXPROCS(0) != 4 {
		t.Errorf("%v, GOMAXPROCS %d", got, runtime.GOMAXPROCS(0))
	}
	p := New(new(Meter), Refuse(func() error { panic("no") }))
	wants(t, p, "lease", take("5000"), 503, "refused")
}

// A program that does not answer whether it refuses does not keep the lease from ending,
// and one that is asked may switch experiments off.
func TestAgentRefuseTakesLong(t *testing.T) {
	started(t, 4)
	var waits atomic.Bool
	answer, answered := make(chan struct{}), make(chan struct{})
	restored := make(chan Switch, 2)
	a := New(new(Meter), OnSwitch(func(s Switch) { restored <- s }), Refuse(func() error {
		if waits.Load() {
			<-answer
		}
		return nil
	}))
	wants(t, a, "lease", take("500"), 200, "")
	wants(t, a, "procs", set("1"), 200, "")
	waits.Store(true)
	go func() {
		defer close(answered)
		a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/lease", strings.NewReader(take("500"))))
	}()
	<-restored // the experiment's own
	select {
	case <-restored:
	case <-time.After(20 * time.Second):
		t.Error("the value was not restored while the program was asked")
	}
	close(answer)
	<-answered
	a.Off()

	var b *Agent
	b = New(new(Meter), Refuse(func() error {
		b.Off()
		return nil
	}))
	wants(t, b, "lease", take("5000"), 403, "off")
}

// A clock that was set back does not forbid changes until it has caught up.
func TestClockSetBack(t *testing.T) {
	started(t, 4)
	a := New(nil) // without a Meter, too
	wants(t, a, "lease", take("5000"), 200, "")
	wants(t, a, "procs", set("2"), 200, "")
	a.last.At = time.Now().Add(time.Hour).UnixNano()
	wants(t, a, "procs", set("3"), 200, "")
	a.Off()
}

// A limit that changes during a lease: afterwards the runtime's default is in effect again,
// as it would be without the lease, and not the value from the old limit. A GOMAXPROCS in
// the environment that the runtime ignores makes no difference.
func TestAgentDefault(t *testing.T) {
	if !gort.HasDefault {
		t.Skip("before Go 1.25 the runtime decides only once")
	}
	started(t, 1)
	t.Setenv("GOMAXPROCS", "none")
	gort.SetDefault()
	def := runtime.GOMAXPROCS(0)
	if expected := look().def; def != expected {
		t.Skipf("the runtime's default is %d, where %d is expected", def, expected)
	}
	var last Switch
	a := New(new(Meter), Max(def+1), OnSwitch(func(s Switch) { last = s }))
	wants(t, a, "lease", take("5000"), 200, "")
	if !a.auto {
		t.Error("the value at the start is not taken to be the runtime's default")
	}
	wants(t, a, "procs", set(strconv.Itoa(def+1)), 200, "")
	a.mu.Lock()
	a.start = def + 2 // as if it had been the default under the old limit
	a.mu.Unlock()
	wants(t, a, "release", `{"lease": "`+mine+`"}`, 200, "")
	if got := runtime.GOMAXPROCS(0); got != def || last.To != def {
		t.Errorf("GOMAXPROCS is %d, reported as %d, want the default, %d", got, last.To, def)
	}
}

func TestBadRequests(t *testing.T) {
	a := New(new(Meter))
	for name, tc := range map[string]struct {
		method, what, body string
		header             []string
		status             int
		code               string
	}{
		"short name":      {"POST", "lease", `{"lease": "0011", "ttl_ms": 5000}`, nil, 400, "lease"},
		"a word":          {"POST", "lease", `{"lease": "` + strings.Repeat("x", 32) + `", "ttl_ms": 5000}`, nil, 400, "lease"},
		"17 minutes":      {"POST", "lease", take("1000000"), nil, 400, "ttl"},
		"without end":     {"POST", "lease", take("9223372036854775807"), nil, 400, "ttl"},
		"0 ms":            {"POST", "lease", take("0"), nil, 400, "ttl"},
		"another field":   {"POST", "lease", `{"leese": "` + mine + `"}`, nil, 400, "json"},
		"two objects":     {"POST", "lease", take("5000") + take("5000"), nil, 400, "json"},
		"no JSON":         {"POST", "procs", "procs=8", nil, 400, "json"},
		"nothing":         {"POST", "procs", "", nil, 400, "json"},
		"huge":            {"POST", "procs", strings.Repeat(" ", 5000), nil, 413, "large"},
		"GET procs":       {"GET", "procs", "", nil, 405, "method"},
		"POST state":      {"POST", "state", "{}", nil, 405, "method"},
		"path":            {"GET", "debug", "", nil, 404, "path"},
		"a web page":      {"POST", "lease", take("5000"), []string{"Origin", "http://localhost"}, 403, "browser"},
		"an image's GET":  {"GET", "state", "", []string{"Sec-Fetch-Site", "cross-site"}, 403, "browser"},
		"through a proxy": {"POST", "lease", take("5000"), []string{"X-Forwarded-For", "10.0.0.1"}, 403, "proxy"},
	} {
		status, answer := do(t, a, tc.method, tc.what, tc.body, tc.header...)
		if status != tc.status || answer["error"] != tc.code || answer["detail"] == "" {
			t.Errorf("%s: %d %v, want %d %s", name, status, answer, tc.status, tc.code)
		}
	}
	if _, s := do(t, a, "GET", "state", ""); s["leased"] != false || s["latency_by"] != "none" || s["protocol"] != 1.0 || s["unit"] != "request" {
		t.Errorf("state %v", s)
	}
}

// FuzzEndpoint: whatever comes, the answer is JSON, GOMAXPROCS stays between its bounds, and
// nothing but a POST changes it.
func FuzzEndpoint(f *testing.F) {
	for _, body := range []string{take("5000"), set("2"), `{"lease": "` + mine + `"}`, "{", "null", `{"procs": 1e99}`} {
		f.Add("POST", "lease", body)
		f.Add("POST", "procs", body)
		f.Add("GET", "metrics", body)
	}
	start := runtime.GOMAXPROCS(0)
	f.Fuzz(func(t *testing.T, method, what, body string) {
		r, err := http.NewRequest(method, "http://a/", strings.NewReader(body))
		if err != nil {
			return
		}
		r.URL.Path = "/" + what
		a := New(new(Meter))
		defer a.Off()
		do(t, a, "POST", "lease", take("30000"))
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("answered %q", w.Body)
		}
		if n := runtime.GOMAXPROCS(0); n < 1 || n > start || method != "POST" && n != start {
			t.Errorf("GOMAXPROCS %d after %s %s %s", n, method, what, body)
		}
	})
}

// A thousand switches while requests are answered: with -race this is the proof that
// neither disturbs the other.
func TestAgentUnderLoad(t *testing.T) {
	started(t, 4)
	m, s := server(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }, nil)
	a := New(m)
	wants(t, a, "lease", take("30000"), 200, "")
	var clients sync.WaitGroup
	const each = 500
	for range [4]struct{}{} {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for range [each]struct{}{} {
				r, err := s.Client().Get(s.URL)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
		}()
	}
	for i := range [100]struct{}{} {
		a.mu.Lock()
		a.last.At = 0
		a.mu.Unlock()
		wants(t, a, "procs", set(string('1'+rune(i%4))), 200, "")
	}
	clients.Wait()
	a.Off()
	s.Client().CloseIdleConnections()
	f := settled(t, m, 4*each, arrivals(4*each))
	if f.Failed != 0 || runtime.GOMAXPROCS(0) != 4 {
		t.Errorf("%d failed, GOMAXPROCS %d", f.Failed, runtime.GOMAXPROCS(0))
	}
}
