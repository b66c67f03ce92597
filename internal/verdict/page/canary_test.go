package page

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/text"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// longer makes a figure of the setting beside the control longer.
func longer(s canary.Slice, name string, times float64) {
	m := s.Settings[1].Metrics
	m[name] = journal.Metric{Value: times * m[name].Value}
}

func TestCanaryVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*canary.Contents)
		state  document.Tone
		label  string
		says   string
	}{
		"better": {func(*canary.Contents) {}, document.Act, "Better", "Under this traffic GOMAXPROCS 1 is better than unset, and proven no worse in what is judged: p99 and CPU time a request."},
		"better, and perhaps worse": {func(c *canary.Contents) {
			for i, s := range c.Slices[:8] {
				longer(s, "p99", 1+float64(i%2))
			}
		}, document.Unknown, "Cannot tell", "GOMAXPROCS 1 is better than unset in CPU time a request, but may be worse in p99: more slices"},
		"nothing proven": {func(c *canary.Contents) { c.Slices = c.Slices[8:] }, document.Unknown, "Cannot tell", "no value is proven better"},
		"worse": {func(c *canary.Contents) {
			c.Slices, c.Header.Canary.Rounds = c.Slices[:8], c.Header.Canary.Rounds[:1]
			for _, s := range c.Slices {
				s.Settings[1].CPUSeconds.User *= 2
				*s.Settings[1].RunQueueWaitSeconds *= 2
			}
		}, document.OK, "Leave it unset", "GOMAXPROCS 1 is worse than unset"},
		"a trade-off": {func(c *canary.Contents) {
			for _, s := range c.Slices[:8] {
				longer(s, "p99", 1.15)
			}
		}, document.Attention, "Trade-off", "better than unset in one figure and worse in another"},
		"nothing counted": {func(c *canary.Contents) { c.Slices = nil }, document.Unknown, "Nothing counted", "No slice of time was counted."},
		"interrupted":     {func(c *canary.Contents) { c.End.Code = journal.EndInterrupted }, document.Unknown, "Not finished", "it was interrupted. What its slices say: Under this traffic GOMAXPROCS 1"},
		"killed":          {func(c *canary.Contents) { c.End = nil }, document.Unknown, "Not finished", "it has no end in its journal"},
		"taken":           {func(c *canary.Contents) { *c.End = journal.End{Code: journal.EndTaken, Reason: "pod x was evicted"} }, document.Unknown, "Not finished", "pod x was evicted"},
		"harm": {func(c *canary.Contents) {
			*c.End = journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmQuery, Setting: "1", Query: "p99", Slices: 5, Ratio: new(1.7)}}
		}, document.Attention, "Harm", "GOMAXPROCS 1 did harm, and the canary ended: p99 was 1.7 times the control's over 5 slices. The margin is 20 %, and chance alone ends fewer than one canary in 100 like this."},
		"harm of the control": {func(c *canary.Contents) {
			*c.End = journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmEnded, Setting: canary.Control, Detail: "container app ended with code 2"}}
		}, document.Unknown, "Harm of the control", "The control did not keep running, and the canary ended: container app ended with code 2. The control runs as the service does"},
		"no requests": {func(c *canary.Contents) {
			c.Slices, c.End.Code = c.Slices[:4], journal.EndUnreached
			for _, s := range c.Slices {
				for i := range s.Settings {
					s.Settings[i].Metrics[canary.Requests], s.Settings[i].CPUSeconds = journal.Metric{}, &journal.CPUSeconds{User: 0.01}
				}
			}
		}, document.Unknown, "No requests", "No request reached the canary's pods in 4 slices, and it ended: nothing was compared."},
	} {
		contents := pagetest.CanaryContents()
		c.change(contents)
		v := canaryWords{canary.Analyze(contents)}.verdict()
		if v.State != c.state || v.Label != c.label || !strings.Contains(v.Sentence, c.says) {
			t.Errorf("%s: %s, %q: %s", name, v.State, v.Label, v.Sentence)
		}
		if (len(v.Settle) > 0) != (name == "no requests") {
			t.Errorf("%s: what would settle it: %v", name, v.Settle)
		}
	}
}

// What is worse and does not decide is said all the same: the table shows it.
func TestCanarySaysWhatIsWorseBeside(t *testing.T) {
	c := pagetest.CanaryContents()
	for _, s := range c.Slices[:8] {
		longer(s, string(canary.FigureSched), 50)
	}
	v := canaryWords{canary.Analyze(c)}.verdict()
	if want := "; higher, and not judged, as p99 and CPU time a request decide: scheduling latency p99 50×"; v.Label != "Better" || !strings.Contains(v.Reasons[0], want) {
		t.Errorf("%s: %q, want %q", v.Label, v.Reasons, want)
	}
}

// What weakens a result is said with it.
func TestCanaryWarnings(t *testing.T) {
	c := pagetest.CanaryContents()
	c.Slices = c.Slices[:4]
	for _, s := range c.Slices {
		for j := range s.Settings {
			delete(s.Settings[j].Metrics, canary.Requests)
			s.Settings[j].ObservedProcs, s.Settings[j].Warnings = []*int{nil}, []journal.Warning{{Code: journal.WarnCounters, Detail: "p99: no Prometheus"}}
		}
	}
	var all []string
	for _, w := range (canaryWords{canary.Analyze(c)}).warnings() {
		all = append(all, w.Subject+": "+w.Message)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"CPU time is of a pod and not of a request", "1: the GOMAXPROCS that it ran with could not be read", "not known 8 times: p99: no Prometheus", "4 slices: an interval of so few says little"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	c = pagetest.CanaryContents()
	for _, s := range c.Slices[:8] {
		s.Settings[1].Metrics[canary.Requests] = journal.Metric{}
	}
	text = ""
	for _, w := range (canaryWords{canary.Analyze(c)}).warnings() {
		text += w.Subject + ": " + w.Message + "\n"
	}
	for _, want := range []string{"1: no request came to it", "2: it is what unset comes to here"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestCanaryOnATerminal(t *testing.T) {
	show := func(r *canary.Result, o text.Options) string {
		var b bytes.Buffer
		brief, _ := Canary(r)
		if err := text.Render(&b, brief, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	pagetest.Golden(t, "canary.txt", []byte(show(pagetest.Canary(), text.Options{Width: 100, Files: []string{"results/api/report.html"}})))
	for _, width := range []int{48, 80, 120} {
		for i, line := range strings.Split(show(pagetest.Canary(), text.Options{Width: width}), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("width %d, line %d has %d columns: %s", width, i+1, n, line)
			}
		}
	}
	for _, r := range show(pagetest.HostileCanary(), text.Options{}) {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q reaches the terminal", r)
		}
	}
}

func TestCanaryInMarkdown(t *testing.T) {
	_, report := Canary(pagetest.Canary())
	pagetest.Golden(t, "canary.md", markdown.Render(report))
	_, hostile := Canary(pagetest.HostileCanary())
	if text := outside(t, string(markdown.Render(hostile))); strings.Contains(text, "<script>") || strings.Contains(text, "\x1b") {
		t.Error("markup of others' reaches the page")
	}
}

func TestCanaryAsAPage(t *testing.T) {
	_, report := Canary(pagetest.Canary())
	b, err := html.Render(report)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	for _, want := range []string{
		"Under this traffic GOMAXPROCS 1 is better than unset", "p99, GOMAXPROCS 1", "p99, GOMAXPROCS 2", `aria-label="slice 8: the control, unset 0.0`,
		"it is what unset comes to here", "api (18 endpoints)", "HorizontalPodAutoscaler api", "procfit sweep --kube deployment/api --canary",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(got, "GOMAXPROCS 8:") {
		t.Error("a slice is called a value of GOMAXPROCS")
	}
	if strings.Contains(got, `class="end"`) {
		t.Error("a name stands at the end of a line, where it runs out of the page")
	}
	_, hostile := Canary(pagetest.HostileCanary())
	b, err = html.Render(hostile)
	if err != nil || bytes.Contains(b, []byte("<script>")) || bytes.Contains(b, []byte("\x1b")) {
		t.Errorf("markup of others' reaches the page, or there is none: %v", err)
	}
}
