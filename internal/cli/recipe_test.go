package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/test/need"
)

// brief is a procfit.yaml of a comparison that a test can wait for.
const brief = `load: {duration: 400ms, warmup: 20ms, connections: 2, rate: 30, header: ["X-Name: two words"]}
compare: {seed: 3}
stop: {repeats: 6}
`

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
	addr, name := flag.String("addr", "", ""), flag.String("name", "", "")
	flag.Parse()
	if *name != "two words" {
		panic(*name)
	}
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
	write("procfit.yaml", brief)
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
	job.Env["MAX_TIME"] = ""
	job.Env["SERVER"] = `-name "two words" -addr :{port}`
	values := strings.NewReplacer("${{ github.workspace }}/.procfit", root, "${{ github.event.pull_request.base.sha }}", base, "${{ github.token }}", "")
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

// gitlabJob is what these tests need of a job.
type gitlabJob struct {
	Variables    map[string]string
	BeforeScript []string `yaml:"before_script"`
	Script       []string
	Artifacts    struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
}

// component reads a job of a component for GitLab, as GitLab does for these inputs.
func component(t *testing.T, file, name string, inputs map[string]string) gitlabJob {
	t.Helper()
	b, err := os.ReadFile("../../templates/" + file)
	if err != nil {
		t.Fatal(err)
	}
	spec, rest, _ := strings.Cut(string(b), "\n---\n")
	var head struct {
		Spec struct {
			Inputs map[string]struct{ Default, Description string }
		}
	}
	var jobs map[string]gitlabJob
	if err := errors.Join(yaml.Unmarshal([]byte(spec), &head), yaml.Unmarshal([]byte(rest), &jobs)); err != nil {
		t.Fatal(err)
	}
	job, ok := jobs[name]
	if !ok || len(head.Spec.Inputs) == 0 {
		t.Fatalf("%s has no job %s, or no input", file, name)
	}
	for key, text := range job.Variables {
		job.Variables[key] = regexp.MustCompile(`\$\[\[ inputs\.([a-z-]+) \]\]`).ReplaceAllStringFunc(text, func(e string) string {
			input := strings.Fields(strings.TrimPrefix(e, "$[[ inputs."))[0]
			declared, ok := head.Spec.Inputs[input]
			if !ok {
				t.Errorf("%s: %s is not an input", file, e)
			}
			if given, ok := inputs[input]; ok {
				return given
			}
			return declared.Default
		})
	}
	for _, line := range append(job.BeforeScript, job.Script...) {
		if strings.Contains(line, "$[[") {
			t.Errorf("%s: an input in a script could be a command of anybody's: %s", file, line)
		}
	}
	return job
}

// run runs the job as GitLab's runner does, which puts all lines into one script. Its
// procfit is that of these tests, as a release of it: TestGitHubRecipe builds one.
func (j gitlabJob) run(t *testing.T, dir string, env ...string) (string, int) {
	t.Helper()
	program, err := os.ReadFile(need.Command(t, "procfit"))
	must(err)
	script, err := os.ReadFile("../../deploy/ci/install.sh")
	must(err)
	repository := t.TempDir()
	must(os.MkdirAll(filepath.Join(repository, "deploy/ci"), 0o755))
	must(os.WriteFile(filepath.Join(repository, "deploy/ci/install.sh"), script, 0o644))
	if out, code := runStep(t, repository, "git init -q . && git add . && git -c user.name=t -c user.email=t@example.com commit -qm all && git tag v0.1.0", nil); code != 0 {
		t.Fatal(out)
	}
	env = append(env, "CI_PROJECT_DIR="+dir, "NO_PROXY=*", "PROCFIT_RELEASES="+release(t, string(program), "").URL)
	for name, v := range j.Variables {
		if name == "PROCFIT_REPOSITORY" {
			v = "file://" + repository
		}
		env = append(env, name+"="+v)
	}
	return runStep(t, dir, strings.Join(append(j.BeforeScript, j.Script...), "\n"), env)
}

// TestGitLabGate runs the job on a merge request that makes a server faster.
func TestGitLabGate(t *testing.T) {
	need.Everything(t, "builds two servers and measures them; compare.txtar proves the gate")
	t.Parallel() // with the other recipe, after the scripts
	need.Command(t, "bash")
	job := component(t, "gate.yml", "procfit-gate", map[string]string{"server": "-name 'two words' -addr :{port}", "procfit": "v0.1.0", "max-time": ""})
	dir, base := history(t, "20*time.Millisecond", "time.Millisecond")
	if out, code := job.run(t, dir, "CI_MERGE_REQUEST_DIFF_BASE_SHA="+base); code != 0 {
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

// TestGitLabCheck runs the job on a repository with a finding.
func TestGitLabCheck(t *testing.T) {
	for _, command := range []string{"bash", "git", "curl", "tar", "sha256sum"} {
		need.Command(t, command)
	}
	job := component(t, "check.yml", "procfit-check", map[string]string{"procfit": "v0.1.0"})
	dir := t.TempDir()
	must(os.WriteFile(filepath.Join(dir, "procfit.yaml"), []byte("check: {paths: [a dir]}\n"), 0o600))
	must(os.Mkdir(filepath.Join(dir, "a dir"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "a dir", "pod.yaml"), fmt.Appendf(nil, badPod, "8"), 0o600))
	out, code := job.run(t, dir)
	report, err := os.ReadFile(filepath.Join(dir, job.Artifacts.Reports["junit"]))
	if code != exitGate || !strings.Contains(out, "PF001") || err != nil || !strings.Contains(string(report), "PF001") {
		t.Errorf("exit code %d, report %v: %s", code, err, out)
	}
}
