package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// missionRow is a statement of a document, in test/mission.md.
type missionRow struct {
	document, place, what, how string
	state, note                string
}

var missionStates = []string{"delivered", "partly", "missing", "deliberately not"}

// readMission returns the rows, and the table of counts by document.
func readMission(t *testing.T) (rows []missionRow, counts map[string]string) {
	t.Helper()
	b := must.Get(os.ReadFile("../../test/mission.md"))(t)
	counts = map[string]string{}
	place := regexp.MustCompile(`^(\d{3}) L\d`)
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch m := place.FindStringSubmatch(cells[0]); {
		case m != nil && len(cells) == 4:
			state, note, _ := strings.Cut(cells[3], ": ")
			rows = append(rows, missionRow{m[1], cells[0], cells[1], cells[2], state, note})
		case m != nil:
			t.Errorf("%d columns in %q", len(cells), line)
		case len(cells) == 6:
			counts[cells[0]] = strings.Join(cells[1:], " ")
		}
	}
	return rows, counts
}

// TestMission holds test/mission.md against itself and against what there is.
func TestMission(t *testing.T) {
	need.Everything(t, "it holds a page of evidence; other tests prove what the page names")
	rows, counts := readMission(t)
	if len(rows) != 201 {
		t.Errorf("%d rows, and the documents make 201 statements", len(rows))
	}
	known := newMissionChecker(t)
	got := map[string][]int{"all": make([]int, len(missionStates))}
	seen := map[string]bool{}
	for _, r := range rows {
		at := slices.Index(missionStates, r.state)
		if at < 0 || (r.note == "") != (r.state == "delivered" || r.state == "missing" && r.note == "") || seen[r.place+r.what] {
			t.Errorf("%s, %s: state %q, note %q; or it stands here twice", r.place, r.what, r.state, r.note)
			continue
		}
		seen[r.place+r.what] = true
		if got[r.document] == nil {
			got[r.document] = make([]int, len(missionStates))
		}
		got[r.document][at]++
		got["all"][at]++
		tokens := known.tokens(r.how)
		if len(tokens) == 0 && (r.state == "delivered" || r.state == "partly") || r.state == "missing" && r.how != "–" {
			t.Errorf("%s, %s: %s by %q", r.place, r.what, r.state, r.how)
		}
		for _, problem := range known.problems(r.how) {
			t.Errorf("%s, %s: %s", r.place, r.what, problem)
		}
	}
	for document, n := range got {
		sum := 0
		for _, x := range n {
			sum += x
		}
		if want := strings.Trim(fmt.Sprint(append(n, sum)), "[]"); counts[document] != want {
			t.Errorf("document %s: the counts say %q, the rows %q", document, counts[document], want)
		}
	}
}

// TestMissionRuns gives each command of the table to procfit: what measures as a dry run, the
// rest in full. A command that is named with its flags alone gets a server or, of check and
// explain, something to judge.
func TestMissionRuns(t *testing.T) {
	need.Everything(t, "it runs the commands of a page of evidence; TestDocumentedCommands runs those that users read")
	rows, _ := readMission(t)
	commands := map[string]string{}
	for _, r := range rows {
		for _, token := range (missionChecker{}).tokens(r.how) {
			if strings.HasPrefix(token, "procfit ") {
				commands[token] = r.place
			}
		}
	}
	if len(commands) < 80 {
		t.Errorf("only %d commands found", len(commands))
	}
	there := examples(t)
	for command, where := range commands {
		t.Run(command, func(t *testing.T) {
			if strings.Contains(command, "./server") && !strings.Contains(command, "--url") && strings.HasPrefix(command, "procfit sweep ") {
				t.Errorf("%s: without --url a server is run as a batch program, which never ends", where)
			}
			if why := notHere[command]; why != "" {
				t.Skip(why)
			}
			runDocumented(t, complete(command), where, there)
		})
	}
	for command := range notHere {
		if commands[command] == "" {
			t.Errorf("%s is no command of the table", command)
		}
	}
}

// notHere are the commands that do not run in a test, and why.
var notHere = map[string]string{
	"procfit ps --watch":                      "it needs a terminal; internal/inspect/watch has one",
	"procfit sweep --cpus target=performance": "it is refused where all CPUs are the same",
}

// complete adds what a command of the table is given to, where it names only its flags.
func complete(command string) string {
	words, err := load.Split(command)
	if err != nil {
		return command // it is reported where it is run
	}
	command = strings.ReplaceAll(command, "deployment/k8sbench", "deployment/api") // which the cluster of the tests has
	command = strings.Replace(command, "lab serve ", "lab source ", 1)             // which ends by itself
	switch rest := words[2:]; {
	case words[1] == "sweep" && !slices.Contains(words, "--"):
		if !slices.Contains(rest, "--url") {
			command += " --url http://127.0.0.1:{port}/"
		}
		return command + " -- ./server -addr :{port}"
	case strings.HasSuffix(command, "lab program workload"):
		return command + " -duration 50ms"
	case strings.HasSuffix(command, "lab program threads"):
		return command + " -d 50ms"
	case words[1] == "explain" && len(rest) == 0:
		return command + " --cpus 4"
	case words[1] == "exporter" && len(rest) == 0:
		return command + " --listen 127.0.0.1:0"
	}
	return command
}

// TestMissionChecker: a row that names what does not exist is a problem.
func TestMissionChecker(t *testing.T) {
	known := newMissionChecker(t)
	for how, want := range map[string]string{
		"`cpuserver/peak_at_cpus`, `docs/evidence/articles.md`, `maxprocs.Set`: PF001": "",
		"`cpuserver/nothing`":        "there is no cpuserver/nothing",
		"`docs/NOTHING.md`":          "there is no docs/NOTHING.md",
		"`maxprocs.Nothing`":         "there is no maxprocs.Nothing",
		"`procfit ps`: PF001, PF999": "no rule PF999",
		"`something`":                "there is no something",
		"the sweep, in words":        "",
	} {
		if got := strings.Join(known.problems(how), "; "); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
	}
}

// missionChecker knows what a row may name.
type missionChecker struct {
	experiments map[string][]string // and their hypotheses
	library     string              // its source
}

func newMissionChecker(t *testing.T) missionChecker {
	t.Helper()
	c := missionChecker{experiments: map[string][]string{}}
	for _, e := range lab.List() {
		var r lab.Ran
		r.Conclude(e, 1)
		c.experiments[e.ID] = []string{}
		for _, h := range r.Hypotheses {
			c.experiments[e.ID] = append(c.experiments[e.ID], h.ID)
		}
	}
	files := must.Get(filepath.Glob("../../maxprocs/*.go"))(t)
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(t)
		c.library += string(b)
	}
	return c
}

var (
	missionToken = regexp.MustCompile("`([^`]+)`")
	missionRule  = regexp.MustCompile(`\bPF\d+\b`)
)

func (missionChecker) tokens(how string) (out []string) {
	for _, m := range missionToken.FindAllStringSubmatch(how, -1) {
		out = append(out, m[1])
	}
	return out
}

// problems is what of a row does not exist.
func (c missionChecker) problems(how string) (out []string) {
	for _, token := range c.tokens(how) {
		if problem := c.problem(token); problem != "" {
			out = append(out, problem)
		}
	}
	for _, id := range missionRule.FindAllString(how, -1) {
		if _, ok := rule.Find(id); !ok {
			out = append(out, "no rule "+id)
		}
	}
	return out
}

func (c missionChecker) problem(token string) string {
	if strings.HasPrefix(token, "procfit ") { // TestMissionRuns runs it
		return ""
	}
	if id, hypothesis, ok := strings.Cut(token, "/"); ok && slices.Contains(c.experiments[id], hypothesis) {
		return ""
	}
	if name, ok := strings.CutPrefix(token, "maxprocs."); ok && strings.Contains(c.library, "\nfunc "+name+"(") {
		return ""
	}
	if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(token))); err == nil && strings.Contains(token, "/") {
		return ""
	}
	return "there is no " + token
}
