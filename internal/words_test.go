package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// denied are the words that users do not read, each with what to write instead. Words
// may be quoted from an article, in “these”.
var denied = []denial{
	{deny(`told|tells`), "reports, prints, shows; proven or ruled out"},
	{deny(`(?:is|are|was|were) said|says? so`), "prints a message; reports it"},
	{deny(`mend|mends|mended|put right`), "fix"},
	{deny(`stands?`), "is; appears; means"},
	{deny(`lies`), "is"},
	{deny(`go(?:es|ing)? on|gone on`), "continues; resumes"},
	{deny(`begun`), "started"},
	{deny(`torn`), "incomplete"},
	{deny(`alike`), "the same; identical"},
	{deny(`likewise`), "in the same way; or repeat the words"},
	{deny(`anew`), "again"},
	{deny(`so many|as many as there are`), "N; the same number of"},
	{regexp.MustCompile(`(?i)(?:^|[^-\w])besides?(?:[^-=\w]|$)`), "next to; together with; also (--beside is a flag)"},
	{deny(`of which|what of it`), "the noun"},
	{deny(`figures?`), "number; metric"},
	{deny(`the way out|remedy`), "the fix"},
	{deny(`feeds|grants`), "allows"},
	{deny(`held back`), "throttled"},
	{deny(`(?:does|do) not count|counts for`), "is not used; is not valid"},
	{regexp.MustCompile(`(?i)(?:^|[^-\w])in force(?:[^- \w]| [^g]|$)`), "in effect; current (force gc is the runtime's)"},
	{deny(`groups? above|ancestors?`), "parent cgroup"},
	{deny(`twins?`), "repeat"},
	{deny(`leave (?:it|them|one|one of both) (?:out|away)|left (?:out|away)`), "remove it; skip; not compared"},
	{regexp.MustCompile(`(?:^|[:;] |", )(?:want|wants) (?:a |an |the |[A-Z%"])`), "expected"},
	{deny(`(?:CPU|time|requests|runs|switches|cycles|bytes|waits|starts|trials|rounds) a (?:second|request|run|pod|replica|trial)`), "per second; per request"},
	{regexp.MustCompile(`requests/s\b`), "req/s"},
	{regexp.MustCompile(`[0-9] %(?:[^\w%.]|\.[^0-9]|\.?$)|%[.0-9]*[dgfs] %%`), "5%"},
	{deny(`pods of ours|knobs?|folklore`), "canary pods; setting"},
	{deny(`starved|withheld`), "other programs left too few CPUs; not compared"},
	{deny(`pilots?`), "trials that find the request rate"},
	{regexp.MustCompile(`(?i)(?:^|[^-\w])leads(?:[^- \w]| [^ont]|$)`), "is best (leads to, out and nowhere are ordinary)"},
	{deny(`above CPUs|placed`), "what it means, in words"},
	{deny(`unset`), "default"},
	{deny(`void`), "not used; invalid"},
	{deny(`make (?:them|(?:the |a few )?pods|a branch)|(?:anything|nothing) (?:is|was) made|image makes`), "create"},
	{deny(`right value|GOMAXPROCS right|the URL right|value that fits`), "recommended; should use; correct"},
}

// private are words that procfit had for something of its own. In prose they are ordinary.
var private = []denial{
	{deny(`settled|settles? (?:it|this|that|the|whether|which)`), "decide"},
	{deny(`(?:a|the|first|last|next|each|every) looks?`), "block; test"},
}

// denial is words that users do not read, and what to write instead.
type denial struct {
	words   *regexp.Regexp
	instead string
}

func deny(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^-\w])(?:` + words + `)(?:[^-\w]|$)`)
}

// isNo finds "is no program", which is "is not a program". "There is no program" and "is no
// longer" are ordinary.
var isNo = regexp.MustCompile(`(?i)(\w*) ?\b(?:is|are|was|were) no (\w+)`)

// markup is all that is not text in a template.
var markup = regexp.MustCompile(`<[^>]*>|{{[^}]*}}`)

// identifiers are the code in a line of Markdown, and the names of types in the reference of
// the formats.
var identifiers = regexp.MustCompile("(?m)`[^`\n]+`|^##+ \\w+\\.\\w+$|\\[[\\w.]+\\]\\([\\w.]*#|^Beside is ")

// ordinary is what is quoted, and what --vary, a shell and a cell call a variable that is not
// there.
var ordinary = regexp.MustCompile(`“[^”]*”|(?:^| or |\| )unset(?: is without|$| $| \|)`)

// wrongIn is what a text has of the words that users do not read.
func wrongIn(text string, list []denial) (wrong []string) {
	text = ordinary.ReplaceAllString(text, "“”")
	for _, d := range list {
		if found := d.words.FindString(text); found != "" {
			wrong = append(wrong, strconv.Quote(strings.TrimSpace(found))+": write "+d.instead)
		}
	}
	for _, m := range isNo.FindAllStringSubmatch(text, -1) {
		if !slices.Contains([]string{"there", "here"}, strings.ToLower(m[1])) && !slices.Contains([]string{"longer", "worse", "better", "more", "less"}, m[2]) {
			wrong = append(wrong, strconv.Quote(m[0])+": write is not a")
		}
	}
	return wrong
}

// literals are the strings of a Go file that hold more than one word: what users read, and
// not what programs do.
func literals(name string) (texts []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	skip := map[*ast.BasicLit]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			skip[n.Tag] = n.Tag != nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && !skip[n] && strings.Contains(text, " ") {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts, nil
}

// read says whether users read the text of a file that is not Go.
func read(name string) bool {
	switch path.Ext(name) {
	case ".html":
		return !strings.Contains(name, "/testdata/")
	case ".md":
		return name != "CHANGELOG.md"
	case ".txt", ".text", ".ansi":
		return strings.HasPrefix(name, "internal/cli/topics/") || strings.Contains(name, "page/testdata/") || strings.Contains(name, "output/testdata/")
	}
	return name == "action.yml"
}

// TestWordsThatUsersRead holds the strings of the program, the templates, the documents and
// the goldens of what is printed against the words that are denied.
func TestWordsThatUsersRead(t *testing.T) {
	places := 0
	must.OK(t, fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || base == "results" || base == "test" || strings.HasSuffix(name, "docs/seeds") || slices.Contains(testHelpers, shortName(name))) {
				return fs.SkipDir
			}
			return nil
		}
		var texts []string
		switch isGo := path.Ext(name) == ".go"; {
		case isGo && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "/testdata/"):
			texts, err = literals("../" + name)
		case !isGo && read(name):
			var b []byte
			b, err = os.ReadFile("../" + name)
			if path.Ext(name) == ".html" {
				b = markup.ReplaceAll(b, []byte(" "))
			}
			if path.Ext(name) == ".md" {
				b = identifiers.ReplaceAll(b, []byte("``"))
			}
			texts = strings.Split(string(b), "\n")
		}
		if err != nil {
			return err
		}
		places += len(texts)
		list := denied
		if strings.HasPrefix(name, "internal/") || !strings.HasSuffix(name, ".md") {
			list = slices.Concat(denied, private)
		}
		for _, text := range texts {
			for _, wrong := range wrongIn(text, list) {
				t.Errorf("%s: %s, in %.120q", name, wrong, text)
			}
		}
		return nil
	}))
	if places < 5000 {
		t.Errorf("only %d texts were read", places)
	}
	t.Logf("%d texts", places)
}

func TestWrongWords(t *testing.T) {
	for text, want := range map[string]bool{
		"which is told in the log": true, "of the old program, likewise": true, "12 % of requests": true, "%.3g %% of requests": true,
		"300 requests/s": true, "300 requests a second": true, "CPU a request": true, "a neighbour beside it": true, "it is no Go program": true,
		"--rate: want a number": true, "is left out": true, "two twins": true,
		"3 leads": true, "2 pilots": true, "GOMAXPROCS unset, 1": true, "what would settle it": true, "above CPUs": true, "the first look": true,
		"make them?": true, "keep the right value": true, "from left to right": false,
		"this link leads out of it": false, "expected a size or unset": false, "looked 2% slower": false,
		"12% of requests": false, "300 req/s": false, "sends a request": false, "--beside command": false, "there is no program": false,
		"is no longer used": false, "understands": false, "“not your knob”, as the article puts it": false, "what users want a report for": false,
	} {
		if got := wrongIn(text, slices.Concat(denied, private)); (len(got) > 0) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestWordsOfResults holds the keys and the values of result.json against words that users do not
// read.
func TestWordsOfResults(t *testing.T) {
	words := regexp.MustCompile(`"[a-z0-9_]+"`).FindAllString(must.Read(t, "../docs/reference/formats/result.schema.json"), -1)
	if len(words) < 1000 {
		t.Fatalf("only %d words were read", len(words))
	}
	for _, word := range words {
		for part := range strings.SplitSeq(strings.Trim(word, `"`), "_") {
			if slices.Contains([]string{"settle", "withheld", "starved", "unset", "figure", "figures", "twin", "knob", "told", "remedy"}, part) {
				t.Errorf("%s: users do not read %q", word, part)
			}
		}
	}
}
