package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/test/need"
)

// brief is a sweep that a test can wait for.
const brief = "--repeats 6 --duration 400ms --warmup 20ms --connections 2 --rate 30 --seed 3"

// history is a repository with a server whose newer commit takes another time to
// answer; base is the older one.
func history(t *testing.T, before, after string) (dir, base string) {
	t.Helper()
	need.Command(t, "git")
	dir = t.TempDir()
	const server = `package main

import (
	"flag"
	"net/http"
	"time"
)

func main() {
	addr := flag.String("addr", "", "")
	flag.Parse()
	http.ListenAndServe(*addr, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(%s) }))
}
`
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("go.mod", "module example.com/shop\n\ngo 1.24\n")
	for _, wait := range []string{before, after} {
		write("cmd/server/main.go", fmt.Sprintf(server, wait))
		git("add", ".")
		git("commit", "-q", "-m", wait)
	}
	return dir, git("rev-parse", "HEAD~1")
}

// runStep runs a script as a CI server does, and returns what it printed and its
// exit code.
func runStep(t *testing.T, dir, script string, env []string) (string, int) {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestGitHubRecipe runs the steps of the workflow on a pull request that makes a
// server slower.
func TestGitHubRecipe(t *testing.T) {
	need.Everything(t, "builds procfit and two servers for a gate; compare.txtar proves the gate")
	t.Parallel() // with the other recipe, after the scripts
	need.Command(t, "bash")
	b, err := os.ReadFile("../../deploy/ci/github.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Env   map[string]string
			Steps []struct {
				Uses, Name, If, Run string
				Env                 map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(b, &workflow); err != nil {
		t.Fatal(err)
	}
	job := workflow.Jobs["procfit"]
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, base := history(t, "time.Millisecond", "20*time.Millisecond")
	temp := t.TempDir()
	summary := filepath.Join(temp, "summary")
	job.Env["FLAGS"] = brief
	values := strings.NewReplacer("${{ github.workspace }}/.procfit", root, "${{ github.event.pull_request.base.sha }}", base)
	failed, ran := 0, 0
	for _, s := range job.Steps {
		if s.Run == "" {
			if name, release, ok := strings.Cut(s.Uses, "@"); !ok || !strings.HasPrefix(name, "actions/") || !strings.HasPrefix(release, "v") {
				t.Errorf("%q: want an action with its release", s.Uses)
			}
			continue
		}
		if s.Name == "" || strings.Contains(s.Run, "${{") {
			t.Errorf("step %q: an expression in its script could be a command of anybody's", s.Name)
		}
		if failed != 0 && s.If != "always()" {
			continue
		}
		env := []string{"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + summary}
		for _, vars := range []map[string]string{job.Env, s.Env} {
			for name, v := range vars {
				env = append(env, name+"="+values.Replace(v))
			}
		}
		out, code := runStep(t, dir, s.Run, env)
		ran++
		if want := map[string]int{"Gate": exitGate}[s.Name]; code != want {
			t.Fatalf("%s: exit code %d, want %d\n%s", s.Name, code, want, out)
		}
		failed = max(failed, code)
	}
	told, err := os.ReadFile(summary)
	if failed != exitGate || ran != 4 || err != nil || !strings.Contains(string(told), "worse") {
		t.Errorf("%d steps, failed with %d, summary %v: %.300s", ran, failed, err, told)
	}
	if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
		t.Errorf("permissions %v: it needs to read, and no more", workflow.Permissions)
	}
}

// TestGitLabRecipe runs the job on a merge request that makes a server faster.
func TestGitLabRecipe(t *testing.T) {
	need.Everything(t, "builds procfit and two servers for a gate; compare.txtar proves the gate")
	t.Parallel() // with the other recipe, after the scripts
	need.Command(t, "bash")
	b, err := os.ReadFile("../../deploy/ci/gitlab.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var jobs map[string]struct {
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		Artifacts    struct {
			When  string
			Paths []string
		}
	}
	if err := yaml.Unmarshal(b, &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs["procfit-gate"]
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, base := history(t, "20*time.Millisecond", "time.Millisecond")
	job.Variables["FLAGS"] = brief
	job.Variables["PROCFIT_SOURCE"] = root
	env := []string{"CI_PROJECT_DIR=" + dir, "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + base}
	for name, v := range job.Variables {
		env = append(env, name+"="+v)
	}
	// GitLab's runner puts all lines into one script.
	out, code := runStep(t, dir, strings.Join(append(job.BeforeScript, job.Script...), "\n"), env)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	for _, path := range job.Artifacts.Paths {
		if _, err := os.Stat(filepath.Join(dir, path, "report.html")); err != nil {
			t.Error(err)
		}
	}
	if job.Artifacts.When != "always" || len(job.Artifacts.Paths) == 0 {
		t.Errorf("artifacts %+v: a gate that fails has to show why", job.Artifacts)
	}
}
