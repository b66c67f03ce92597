package html

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/test/must"
)

// kinds are a block of each kind.
var kinds = []document.Block{document.Heading{}, document.Panel{}, document.Text{}, document.Alert{}, document.List{}, document.Notes{}, document.Pairs{}, document.Tiles{}, document.Checks{},
	document.Cards{}, document.Code{}, document.Snippets{}, document.Links{}, document.Section{}, document.Folds{}, document.Table{}, document.Charts{}, document.Timeline{}}

// filled is a document with every kind of block, in which every text is s and every switch
// is on or off.
func filled(s string, on bool) *document.Document {
	d := &document.Document{Title: s, Date: s, Home: &document.Link{Text: s, To: "#x"}, Class: s}
	for _, b := range kinds {
		v := reflect.New(reflect.TypeOf(b)).Elem()
		fill(v, "", s, on)
		d.Blocks = append(d.Blocks, v.Interface().(document.Block))
	}
	return d
}

func fill(v reflect.Value, name, s string, on bool) {
	switch v.Kind() {
	case reflect.String:
		if v.SetString(s); slices.Contains([]string{"To", "Link"}, name) {
			v.SetString("#x")
		}
	case reflect.Bool:
		v.SetBool(on && name != "Joined") // to a mark before, which there is not
	case reflect.Int:
		if name == "Level" {
			v.SetInt(2)
		}
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		if name != "Together" { // a chart of charts
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), name, s, on)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name, s, on)
	case reflect.Interface:
		v.Set(reflect.ValueOf(document.Text{Lead: s, Text: s}))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name, s, on)
		}
	}
}

// shape is the elements of a page and the names of their attributes, and how many texts and
// values hold s.
func shape(t *testing.T, page []byte, s string) (elements []string, texts, values int) {
	t.Helper()
	root := must.Get(html.Parse(bytes.NewReader(page)))(t)
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			texts += strings.Count(n.Data, s)
		case html.ElementNode:
			line := n.Namespace + ":" + n.Data
			for _, a := range n.Attr {
				line += " " + a.Key
				if link, err := url.PathUnescape(a.Val); err == nil && a.Key == "href" {
					a.Val = link
				}
				values += strings.Count(a.Val, s)
			}
			elements = append(elements, line)
		default:
			elements = append(elements, fmt.Sprint(n.Type))
		}
	}
	return elements, texts, values
}

// plain is a text with nothing in it that a syntax knows, and in nothing else of a page.
const plain = "Qqqq"

var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, `" onfocus="alert(1)" x="`, `</style><script>alert(1)</script>`, `</title></svg></text></pre><h1>`,
	`<!-- `, `-->`, `]]>`, `<![CDATA[`, `&lt;b&gt;&amp;&#34;&quot`, `{{.}}{{template "x"}}`, `<plaintext>`, `\u003cscript\u003e`, `url(javascript:alert(1))`, `*/ } body { display: none`,
	"数据服务", "сервер", "خادم שרת", "सर्वर", "sërvér",
}

// A page has the same elements and attributes whatever its texts are, and each text is
// whole wherever it is shown.
func TestTextStaysText(t *testing.T) {
	for _, on := range []bool{false, true} {
		want, texts, values := shape(t, rendered(t, filled(plain, on)), plain)
		if texts < 70 || values < 20 || len(want) < 150 {
			t.Fatalf("the text is in %d texts and %d values of %d elements: not all blocks are filled", texts, values, len(want))
		}
		for _, s := range hostile {
			same(t, s, on)
		}
	}
}

func rendered(t *testing.T, d *document.Document) []byte {
	t.Helper()
	l := must.Get(NewLive(d, 5))(t)
	return l.Page(d.Title)
}

func same(t *testing.T, s string, on bool) {
	t.Helper()
	want, texts, values := shape(t, rendered(t, filled(plain, on)), plain)
	got, inTexts, inValues := shape(t, rendered(t, filled(s, on)), s)
	if !slices.Equal(got, want) {
		t.Errorf("%q makes other elements", s)
	}
	if inTexts < texts || inValues < values {
		t.Errorf("%q is in %d texts and %d values, expected %d and %d", s, inTexts, inValues, texts, values)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// Who makes a document has cleaned it; between backquotes is code, labels without room
		// are not drawn, and a flag of a command has an element of its own.
		for _, r := range s {
			if r < ' ' || r == 0x7f || r == '`' || r == '\ufffd' {
				t.Skip()
			}
		}
		if len(s) < len(plain) || len(s) > 40 || strings.TrimSpace(s) != s || slices.ContainsFunc(strings.Fields(s), flag().MatchString) {
			t.Skip()
		}
		same(t, s, true)
	})
}

func TestLinksLeadToPagesAlone(t *testing.T) {
	for to, want := range map[string]string{
		"#warnings": "#warnings", "../index.html": "../index.html", "chain/a b.html": "chain/a%20b.html", "/metrics": "/metrics", "https://go.dev/?a=1&b=2": "https://go.dev/?a=1&b=2",
		"mailto:a@b.example": "mailto:a@b.example", `#"><script>`: "#%22%3E%3Cscript%3E",
		"": "", "javascript:alert(1)": "", "JavaScript:alert(1)": "", "java\nscript:alert(1)": "", " javascript:alert(1)": "", "\x01javascript:alert(1)": "", "javascript&colon;alert(1)": "javascript&colon;alert(1)",
		"data:text/html,<script>": "", "vbscript:x": "", "file:///etc/passwd": "", "%zz": "",
	} {
		page := must.Get(Render(&document.Document{Blocks: []document.Block{document.Links{{Text: plain, To: to}}}}))(t)
		root := must.Get(html.Parse(bytes.NewReader(page)))(t)
		got, shown := "", false
		for n := range root.Descendants() {
			if n.Data == "a" {
				got = n.Attr[0].Val
			}
			shown = shown || strings.Contains(n.Data, plain)
		}
		if got != want || !shown {
			t.Errorf("a link to %q leads to %q, expected %q; its text is shown: %t", to, got, want, shown)
		}
	}
}

// A style sheet is written as it is, into HTML and into XML.
func TestStyleSheetsEndNoElement(t *testing.T) {
	names, err := fs.Glob(files, "*.css")
	if err != nil || len(names) < 5 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		if sheet := style(name); strings.ContainsAny(sheet, "<&") || strings.Contains(sheet, "@import") {
			t.Errorf("%s has < or &, or imports another", name)
		}
	}
}
