package html

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/procfit/procfit/internal/trace/sched"
	"github.com/procfit/procfit/internal/trace/sched/view"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func render(t *testing.T, log []byte, name string) []byte {
	t.Helper()
	s := sched.Analyse(bytes.NewReader(log))
	var b bytes.Buffer
	if err := Render(&b, view.New(s, sched.Readings(s), view.Options{Name: name, Points: 150, Procs: 64})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, log string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + log + ".log")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const hostile = `<script>document.title='x'</script>" onload="y`

func logs(t *testing.T) map[string][]byte {
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "SCHED %dms: gomaxprocs=256 idleprocs=0 threads=300 spinningthreads=1 idlethreads=3 runqueue=40 [%s]\n", i*100, strings.Repeat(fmt.Sprint(i%9, " "), 256))
	}
	return map[string][]byte{
		"plain": read(t, "go1.27.1-plain"), "detail": read(t, "go1.27.1-detail"), "gorun": read(t, "go1.26.8-gorun"),
		"old": read(t, "go1.2.2-plain"), "empty": nil, "many": []byte(many.String()),
		"hostile": []byte("SCHED 1ms: " + hostile + "\n" + many.String()[:20000]),
	}
}

func TestGolden(t *testing.T) {
	pagetest.Golden(t, "detail.html", render(t, read(t, "go1.27.1-detail"), "./app"))
}

// The page may hold only elements that the templates write, and fetch nothing.
func TestOnlyOurElementsAndNothingToFetch(t *testing.T) {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq("html head meta title style body header main section p h1 h2 h4 ul li span code div dl dt dd " +
		"figure figcaption svg g text line rect path table thead tbody tr th td") {
		allowed[name] = true
	}
	for name, log := range logs(t) {
		page := render(t, log, hostile)
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
	page := string(render(t, read(t, "go1.27.1-plain"), "x"))
	for _, want := range []string{`class="readout"`, "GOMAXPROCS", "Run queue of each P", `class="cell"`, "prefers-color-scheme: dark"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
}
