package requests

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// files stands for a file system.
func files(have map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := have[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("open " + name + ": no such file")
	}
}

const plain = `# two requests of vegeta's README
GET http://goku:9090/path/to/dragon?item=ball
X-Account-ID: 99

POST http://goku:9090/things
Content-Type: application/json
@new thing.json
GET /only/a/path

DELETE http://goku:9090/x
GET http://goku:9090/y
X-Account-ID: 98
HEAD http://goku:9090/z
`

func TestRead(t *testing.T) {
	got, err := (&Reader{ReadFile: files(map[string]string{"new thing.json": "{}"})}).Read(strings.NewReader(plain))
	must.OK(t, err)
	want := []load.Request{
		{Method: "GET", Path: "/path/to/dragon?item=ball", Headers: []string{"X-Account-ID: 99"}},
		{Method: "POST", Path: "/things", Headers: []string{"Content-Type: application/json"}, Body: []byte("{}")},
		{Method: "GET", Path: "/only/a/path"},
		{Method: "DELETE", Path: "/x"},
		{Method: "GET", Path: "/y", Headers: []string{"X-Account-ID: 98"}},
		{Method: "HEAD", Path: "/z"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	got, err = (&Reader{}).Read(strings.NewReader(`{"method": "POST", "url": "https://goku:9090/1", "header": {"B": ["2"], "A": ["x", "y"]}, "body": "aGk="}
{"method": "GET", "url": "https://goku:9090"}`))
	must.OK(t, err)
	want = []load.Request{{Method: "POST", Path: "/1", Headers: []string{"A: x", "A: y", "B: 2"}, Body: []byte("hi")}, {Method: "GET", Path: "/"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A file that vegeta 12.12.0 attacked with.
func TestReadsVegeta(t *testing.T) {
	f := must.Get(os.Open(filepath.Join("testdata", "targets.json")))(t)
	defer f.Close()
	got, err := (&Reader{}).Read(f)
	if err != nil || len(got) != 2 || got[0].Method != "GET" || got[1].Path != "/b?x=1" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "no request in it",
		"# nothing\n\n":                         "no request in it",
		"GET http://a/\n\nnonsense":             `line 3: "nonsense": expected a method and a URL`,
		"GET http://a/\nno header":              `line 2: header "no REDACTED": no colon`,
		"G@T http://a/":                         `line 1: method "G@T": not an HTTP method`,
		"GET ftp":                               `line 1: "ftp": expected a URL`,
		"GET http://a/%zz":                      `line 1: "http://a/%zz" is not a URL: invalid URL escape`,
		"GET http://u:p@a/":                     "line 1: \"http://u:REDACTED@a/\": give credentials as a header",
		"GET http://a/\n\nGET http://b/":        `line 3: "http://b/": the earlier requests go to http://a; all must go to one server`,
		"GET http://a/\nAUTHORIZATION Bearer b": `line 2: header "AUTHORIZATION `,
		"POST http://a/\n@gone":                 "line 2: the body: open gone",
		"POST http://a/\n@big":                  "line 2: the body has 17 MiB; the limit is 16 MiB",
		"GET http://a/\nContent-Length: 5":      "line 2: header \"Content-Length: 5\": the load generator sets the length",
		`{"method":"GET"}`:                      `line 1: a request in JSON needs "method" and "url"`,
		`{"method":"GET","url":"/","body":"!"}`: "line 1: invalid JSON request",
		`{"method":"GET","url":"/","wait":1}`:   `line 1: invalid JSON request: unknown field "wait"`,
		`{"method":"GET","url":"/"} {}`:         "line 1: more than one object",
		`{"method":"GET","url":"/","header":{"a b":["c"]}}`:                  `line 1: header "a REDACTED"`,
		strings.Repeat("x", mostLine+1):                                      "line 1: longer than 32 MiB",
		"GET /\n" + strings.Repeat("A: "+strings.Repeat("x", 1<<18)+"\n", 5): "line 5: the headers have more than 1 MiB",
		strings.Repeat("POST /\n@mebi\n", 257):                               "line 514: the bodies of all requests together have more than 256 MiB; use fewer requests or smaller bodies",
		strings.Repeat("GET /\n\n", load.MostRequests+1):                     "line 200001: more than 100000 requests",
	} {
		r := &Reader{ReadFile: files(map[string]string{"big": strings.Repeat("x", 17<<20), "mebi": strings.Repeat("x", 1<<20)})}
		if got, err := r.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %d requests, %v, want %q", text, len(got), err, want)
		}
	}
}

func TestFromURLs(t *testing.T) {
	base, list, err := FromURLs([]string{"3=http://127.0.0.1:{port}/a?b=c", "http://127.0.0.1:{port}/b", "0.5=http://127.0.0.1:{port}"})
	if err == nil {
		t.Fatalf("a placeholder is no port: %s, %+v", base, list)
	}
	base, list, err = FromURLs([]string{"3=http://127.0.0.1:1/a?b=c", "http://127.0.0.1:1/b", "0.5=http://127.0.0.1:1"})
	want := []load.Request{{Weight: 3, Path: "/a?b=c"}, {Weight: 1, Path: "/b"}, {Weight: 0.5, Path: "/"}}
	if err != nil || base != "http://127.0.0.1:1/a?b=c" || !reflect.DeepEqual(list, want) {
		t.Errorf("%s, %v, %+v, want %+v", base, err, list, want)
	}
	if base, list, err = FromURLs([]string{"2=http://a/x"}); base != "http://a/x" || list != nil || err != nil {
		t.Errorf("one: %s, %+v, %v", base, list, err)
	}
	for text, want := range map[string]string{"0=http://a/": "weight above 0", "http://b/": "one server", "1=/b": "expected a URL", "1=http://u:p@a/": "credentials"} {
		if _, _, err := FromURLs([]string{"http://a/", text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if !Weighted("3=http://a/") || Weighted("http://a/?3=http://b") {
		t.Error("Weighted is wrong")
	}
	for _, text := range []string{"POST http://a/", "3=POST http://a/"} {
		if method, url := Method(text); method != "POST" || url != "http://a/" {
			t.Errorf("%s: %q of %q", text, method, url)
		}
	}
}

// FuzzRead: what is read can be sent, and an error names its line.
func FuzzRead(f *testing.F) {
	f.Add(plain)
	f.Add(`{"method": "POST", "url": "https://goku:9090/1", "header": {"B": ["2"]}, "body": "aGk="}`)
	f.Add("GET http://a/\n@x\nGET /")
	f.Fuzz(func(t *testing.T, text string) {
		r := &Reader{ReadFile: files(map[string]string{"x": "y"})}
		list, err := r.Read(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") && !strings.HasPrefix(err.Error(), "no request") {
				t.Fatal(err)
			}
			return
		}
		for _, one := range list {
			if err := one.Check(); err != nil {
				t.Fatalf("%q: %+v: %v", text, one, err)
			}
		}
	})
}
