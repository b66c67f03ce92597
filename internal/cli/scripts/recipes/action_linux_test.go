package recipes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/cli"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// action is what this test needs of a composite action.
type action struct {
	Inputs map[string]struct {
		Description string
		Default     string
	}
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Name, Shell, Run string
			Env                  map[string]string
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z0-9._-]+) *\}\}`)

// runAction runs the steps of action.yml as a runner does, in the folder dir, and returns
// the exit code of the last and what it has printed.
func runAction(t *testing.T, dir, temp string, inputs map[string]string) (code int, out, outputs string) {
	t.Helper()
	var a action
	must.OK(t, yaml.Unmarshal(must.Get(os.ReadFile("../../../../action.yml"))(t), &a))
	root := must.Get(filepath.Abs("../../../.."))(t)
	value := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			name := expression.FindStringSubmatch(e)[1]
			if known, ok := map[string]string{"github.action_path": root, "github.action_ref": "main", "github.token": "token"}[name]; ok {
				return known
			}
			input, ok := strings.CutPrefix(name, "inputs.")
			declared, known := a.Inputs[input]
			if !ok || !known {
				t.Fatalf("%s is not known here", e)
			}
			if given, ok := inputs[input]; ok {
				return given
			}
			return declared.Default
		})
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) < 2 {
		t.Fatalf("%+v", a.Runs)
	}
	results := filepath.Join(temp, "outputs")
	for _, s := range a.Runs.Steps {
		if _, err := os.Stat(filepath.Join(temp, "procfit-check")); err == nil && strings.HasPrefix(s.Name, "Install") {
			continue // once is enough
		}
		if expression.MatchString(s.Run) || s.Shell != "bash" || s.Name == "" {
			t.Errorf("step %q: an expression in its script could be a command of anybody's", s.Name)
		}
		env := []string{"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + results, "GOFLAGS=-mod=mod"}
		for name, v := range s.Env {
			env = append(env, name+"="+value(v))
		}
		if out, code = runStep(t, dir, s.Run, env); code != 0 {
			break
		}
	}
	written, err := os.ReadFile(results)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return code, out, string(written)
}

// TestActionWords: procfit gets all paths and flags, however the lines of an input lie.
func TestActionWords(t *testing.T) {
	need.Command(t, "bash")
	for name, tc := range map[string]struct {
		inputs map[string]string
		want   string
	}{
		"the defaults":     {nil, "check -o github --"}, // and the paths of procfit.yaml
		"words":            {map[string]string{"paths": "clean  bad", "args": "--go 1.26"}, "check -o github --go 1.26 -- clean bad"},
		"lines":            {map[string]string{"paths": "clean\nbad\n", "args": "--go 1.26\n--exit-zero\n"}, "check -o github --go 1.26 --exit-zero -- clean bad"},
		"lines of words":   {map[string]string{"paths": "\n  a b\n\n\tc\n", "args": "\n"}, "check -o github -- a b c"},
		"not a wildcard":   {map[string]string{"paths": "*\n?", "args": `\n`}, `check -o github \n -- * ?`},
		"quoted words":     {map[string]string{"paths": `"a  b"/c 'd "e"' ""`, "args": "--ignore 'PF015=it''s \"right\"'\n--go 1.26"}, `check -o github --ignore PF015=its "right" --go 1.26 -- a  b/c d "e" `},
		"and other inputs": {map[string]string{"sarif": "a b.sarif", "exit-zero": "true"}, "check -o github -o sarif=a b.sarif --exit-zero --"},
	} {
		temp := t.TempDir()
		program := filepath.Join(temp, "procfit-check", "procfit")
		must.OK(t, os.Mkdir(filepath.Dir(program), 0o755))
		must.OK(t, os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s\\n' \"$*\"\nexit 1\n"), 0o755))
		code, out, outputs := runAction(t, t.TempDir(), temp, tc.inputs)
		if code != 1 || out != tc.want+"\n" || outputs != "exit-code=1\n" {
			t.Errorf("%s: exit code %d, outputs %q: %q, want %q", name, code, outputs, out, tc.want)
		}
	}
}

// badPod has a limit of 2 CPUs and a GOMAXPROCS.
const badPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: api}\nspec:\n  containers:\n  - name: api\n    image: acme/api:1\n    resources: {limits: {cpu: \"2\"}}\n    env:\n    - name: GOMAXPROCS\n      value: %q\n"

// TestAction runs the action for GitHub on a folder with a finding and on one without.
func TestAction(t *testing.T) {
	need.Everything(t, "builds procfit as the action does; the scripts prove what its check prints and returns")
	need.Command(t, "bash")
	need.Command(t, "go")
	built.ReadsProcfit(t)
	dir, temp := t.TempDir(), t.TempDir()
	for name, procs := range map[string]string{"bad dir.yaml": "8", "good.yaml": "2"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, badPod, procs), 0o644))
	}
	code, out, outputs := runAction(t, dir, temp, map[string]string{"sarif": "procfit results.sarif", "args": "--go 1.24"})
	if code != 1 || !strings.Contains(out, "::warning file=bad dir.yaml,line=10") || outputs != "exit-code=1\n" {
		t.Errorf("exit code %d, outputs %q: %s", code, outputs, out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "procfit results.sarif")); err != nil || !strings.Contains(string(b), `"ruleId": "PF001"`) {
		t.Errorf("SARIF: %v, %.300s", err, b)
	}
	for name, tc := range map[string]struct {
		inputs map[string]string
		code   int
	}{
		"nothing found":      {map[string]string{"paths": "good.yaml", "args": "--go 1.24"}, 0},
		"only told":          {map[string]string{"exit-zero": "true", "args": "--go 1.24"}, 0},
		"no such file":       {map[string]string{"paths": "good.yaml nowhere"}, 3},
		"a command for args": {map[string]string{"paths": "good.yaml", "args": "$(touch owned) `touch owned`; touch owned"}, 3},
	} {
		if code, out, _ := runAction(t, dir, temp, tc.inputs); code != tc.code {
			t.Errorf("%s: exit code %d, want %d: %s", name, code, tc.code, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "owned")); err == nil {
		t.Error("what is given as an argument was run as a command")
	}
}

// TestPreCommitHooks: each hook is a command line that procfit takes, for the files that
// it checks.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct{ ID, Name, Entry, Language, Files string }
	must.OK(t, yaml.Unmarshal(must.Get(os.ReadFile("../../../../.pre-commit-hooks.yaml"))(t), &hooks))
	languages := map[string]string{"procfit-check": "golang", "procfit-fix": "golang", "procfit-check-installed": "system", "procfit-fix-installed": "system"}
	if len(hooks) != len(languages) {
		t.Errorf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		words := strings.Fields(h.Entry)
		var out bytes.Buffer
		if code := cli.Main(t.Context(), append(words[1:], "--help"), strings.NewReader(""), &out, &out); code != 0 || words[0] != "procfit" || words[1] != "check" || h.Language != languages[h.ID] {
			t.Errorf("%+v: exit code %d, %s", h, code, out.String())
		}
		files := must.Get(regexp.Compile(h.Files))(t)
		for name, want := range map[string]bool{
			"deploy/api.yaml": true, "a.yml": true, "task.json": true, "cmd/x/main.go": true, "go.mod": true, "svc/go.mod": true, "Dockerfile": true,
			"docker/Dockerfile.prod": true, "app.dockerfile": true, "x.service": true, "entry.sh": true, "deploy/api.env": true, "shop.pod": true, "prom.service.j2": true,
			"go.work": true, "base/Kustomization": true, "README.md": false, "go.sum": false, "logo.png": false,
		} {
			if files.MatchString(name) != want {
				t.Errorf("%s: %s: %v", h.ID, name, !want)
			}
		}
	}
}
