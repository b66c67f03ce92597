package page

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/sched"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func read(t *testing.T, log string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + log + ".log")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var logs = []string{"go1.27.1-plain", "go1.27.1-detail", "go1.2.2-plain", "go1.26.8-gorun", "go1.27.1-chatty"}

func asText(t *testing.T, log string, o text.Options) string {
	t.Helper()
	s := sched.Analyse(bytes.NewReader(read(t, log)))
	var b bytes.Buffer
	if err := text.Render(&b, Brief(log, s, sched.Readings(s)), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	for _, log := range logs {
		pagetest.Golden(t, log+".txt", []byte(asText(t, log, text.Options{Files: []string{"trace.html"}})))
	}
	pagetest.Golden(t, "go1.27.1-detail.ansi", []byte(asText(t, "go1.27.1-detail", text.Options{Color: true})))
}

func TestLinesFitTheTerminal(t *testing.T) {
	for _, log := range logs {
		for _, width := range []int{36, 47, 60, 80, 100, 120} {
			for i, line := range strings.Split(asText(t, log, text.Options{Width: width}), "\n") {
				if n := utf8.RuneCountInString(line); n > width && strings.Contains(line, " ") && !strings.Contains(line, `\`) {
					t.Errorf("%s, width %d, line %d has %d columns: %s", log, width, i+1, n, line)
				}
			}
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColourChangesNoText(t *testing.T) {
	for _, log := range logs {
		without, with := asText(t, log, text.Options{}), asText(t, log, text.Options{Color: true})
		if strings.Contains(without, "\x1b") {
			t.Errorf("%s: an escape sequence without colour", log)
		}
		for i, line := range strings.Split(sgr.ReplaceAllString(with, ""), "\n") {
			if want := strings.Split(without, "\n")[i]; strings.TrimRight(line, " ") != want {
				t.Errorf("%s: line %d is %q with colour, %q without", log, i+1, line, want)
			}
		}
	}
}

func TestNoTwoEmptyLines(t *testing.T) {
	for _, log := range logs {
		if strings.Contains(asText(t, log, text.Options{}), "\n\n\n") {
			t.Errorf("%s: two empty lines in a row", log)
		}
	}
}

func asPage(t *testing.T, log []byte, name string) []byte {
	t.Helper()
	s := sched.Analyse(bytes.NewReader(log))
	b, err := html.Render(Report(name, s, sched.Readings(s)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPage(t *testing.T) {
	pagetest.Golden(t, "detail.html", asPage(t, read(t, "go1.27.1-detail"), "./app"))
}

func TestMarkdown(t *testing.T) {
	s := sched.Analyse(bytes.NewReader(read(t, "go1.27.1-detail")))
	pagetest.Golden(t, "detail.md", markdown.Render(Report("./app", s, sched.Readings(s))))
}

const hostile = `<script>document.title='x'</script>" onload="y`

// The page may hold only elements that the templates write, and fetch nothing.
func TestOnlyOurElementsAndNothingToFetch(t *testing.T) {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq("html head meta title style body header main section p h1 h2 h3 h4 ul li span code div dl dt dd " +
		"figure figcaption svg g text line rect path table thead tbody tr th td") {
		allowed[name] = true
	}
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "SCHED %dms: gomaxprocs=256 idleprocs=0 threads=300 spinningthreads=1 idlethreads=3 runqueue=40 [%s]\n", i*100, strings.Repeat(fmt.Sprint(i%9, " "), 256))
	}
	for name, log := range map[string][]byte{
		"plain": read(t, "go1.27.1-plain"), "detail": read(t, "go1.27.1-detail"), "gorun": read(t, "go1.26.8-gorun"),
		"old": read(t, "go1.2.2-plain"), "empty": nil, "many": []byte(many.String()),
		"hostile": []byte("SCHED 1ms: " + hostile + "\n" + many.String()[:20000]),
	} {
		page := asPage(t, log, hostile)
		doc, err := nethtml.Parse(bytes.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			if n.Type != nethtml.ElementNode {
				continue
			}
			if !allowed[n.Data] {
				t.Errorf("%s: element <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" || a.Key == "style" {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
			}
		}
		if bytes.Contains(page, []byte("@import")) || bytes.Contains(page, []byte("url(")) {
			t.Errorf("%s: the style sheet loads something", name)
		}
		if bytes.Contains(page, []byte("ZgotmplZ")) || bytes.Contains(page, []byte("NaN")) {
			t.Errorf("%s: a value that the template refused", name)
		}
		if len(page) > 2<<20 {
			t.Errorf("%s: the page has %d bytes", name, len(page))
		}
	}
}

func TestValuesShowWithoutAScript(t *testing.T) {
	page := string(asPage(t, read(t, "go1.27.1-plain"), "x"))
	for _, want := range []string{`class="readout"`, "GOMAXPROCS", "Run queue of each P", `class="stretch"`, "prefers-color-scheme: dark"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
}
