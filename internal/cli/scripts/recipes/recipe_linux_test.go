package recipes

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// exitFound is the exit code of findings, and of a comparison that is not met.
const exitFound = 1

// brief is a procfit.yaml of a comparison that a test can wait for. No latency is asked for, since a
// busy machine makes a load late, and then the gate has no answer.
const brief = `load:
  trialTime: "400ms,warmup=20ms"
  load: "procfit load --json --for {duration} --connections 2 --header 'X-Name: two words' http://{host}:{port}/"
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
	write := func(name, text string) {
		t.Helper()
		must.Write(t, filepath.Join(dir, name), text)
	}
	gitIn(t, dir, "init", "-q")
	write("go.mod", "module example.com/shop\n\ngo 1.24\n")
	write("procfit.yaml", brief)
	for _, wait := range []string{before, after} {
		write("cmd/server/main.go", fmt.Sprintf(server, wait))
		gitIn(t, dir, "add", ".")
		gitIn(t, dir, "commit", "-q", "-m", wait)
	}
	return dir, gitIn(t, dir, "rev-parse", "HEAD~1")
}

// alone is the environment, without the settings of git on this machine.
func alone() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
}

// gitIn runs git in a folder, and returns what it prints.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Env = alone()
	return strings.TrimSpace(must.Output(t, cmd))
}

// runStep runs a script as a CI server does, and returns what it printed and its
// exit code.
func runStep(t *testing.T, dir, script string, env []string) (string, int) {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append(alone(), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// workflow is what these tests need of a workflow for GitHub.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Env   map[string]string
		Steps []step
	}
}

type step struct {
	Uses, Name, If, Run string
	Env                 map[string]string
}

func githubWorkflow(t *testing.T, file string) (w workflow) {
	t.Helper()
	must.OK(t, yaml.Unmarshal(must.Get(os.ReadFile("../../../../deploy/ci/"+file))(t), &w))
	return w
}

// run runs the step with the variables of its job.
func (s step) run(t *testing.T, dir string, job map[string]string, values *strings.Replacer, env ...string) (string, int) {
	t.Helper()
	if s.Run != "" && s.Name == "" || strings.Contains(s.Run, "${{") {
		t.Errorf("step %q: an expression in its script could be a command of anybody's", s.Name)
	}
	all := []string{"NO_PROXY=*"}
	for _, vars := range []map[string]string{job, s.Env} {
		for name, v := range vars {
			all = append(all, name+"="+values.Replace(v))
		}
	}
	return runStep(t, dir, s.Run, append(all, env...))
}

// TestGitHubRecipe runs the steps of the workflow on a pull request that makes a
// server slower.
func TestGitHubRecipe(t *testing.T) {
	need.Everything(t, "builds two servers and measures them; compare.txtar proves the gate")
	t.Parallel()
	need.Command(t, "bash")
	workflow := githubWorkflow(t, "github.yaml")
	job := workflow.Jobs["procfit"]
	root := must.Get(filepath.Abs("../../../.."))(t)
	dir, base := history(t, "time.Millisecond", "20*time.Millisecond")
	temp := t.TempDir()
	summary := filepath.Join(temp, "summary")
	job.Env["FOR"], job.Env["PROCFIT"] = "", "v0.1.0"
	releases := released(t).URL
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
		if failed != 0 && s.If != "always()" {
			continue
		}
		out, code := s.run(t, dir, job.Env, values, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary, "PROCFIT_RELEASES="+releases)
		ran++
		if want := map[string]int{"Gate": exitFound}[s.Name]; code != want {
			t.Fatalf("%s: exit code %d, want %d\n%s", s.Name, code, want, out)
		}
		failed = max(failed, code)
	}
	told, err := os.ReadFile(summary)
	if failed != exitFound || ran != 4 || err != nil || !strings.Contains(string(told), "worse") {
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
	b := must.Read(t, "../../../../templates/"+file)
	spec, rest, _ := strings.Cut(b, "\n---\n")
	var head struct {
		Spec struct {
			Inputs map[string]struct{ Default, Description string }
		}
	}
	var jobs map[string]gitlabJob
	must.OK(t, errors.Join(yaml.Unmarshal([]byte(spec), &head), yaml.Unmarshal([]byte(rest), &jobs)))
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
// procfit is the released one.
func (j gitlabJob) run(t *testing.T, dir string, env ...string) (string, int) {
	t.Helper()
	repository := t.TempDir()
	for _, name := range []string{"deploy/ci/install.sh", "deploy/ci/fleet.sh"} {
		must.Write(t, filepath.Join(repository, name), must.Read(t, "../../../../"+name))
	}
	if out, code := runStep(t, repository, "git init -q . && git add . && git -c user.name=t -c user.email=t@example.com commit -qm all && git tag v0.1.0", nil); code != 0 {
		t.Fatal(out)
	}
	env = append(env, "CI_PROJECT_DIR="+dir, "NO_PROXY=*", "PROCFIT_RELEASES="+released(t).URL)
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
	t.Parallel()
	need.Command(t, "bash")
	job := component(t, "gate.yml", "procfit-gate", map[string]string{"server": "-name 'two words' -addr :{port}", "procfit": "v0.1.0", "for": ""})
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

// TestWorktreeAgain: a runner that keeps its clone removes the folders of an earlier job, and
// git still knows them.
func TestWorktreeAgain(t *testing.T) {
	need.Everything(t, "it runs a line of the workflows for CI; compare.txtar proves the gate")
	need.Command(t, "bash")
	for _, file := range []string{"deploy/ci/github.yaml", "templates/gate.yml"} {
		b := must.Read(t, "../../../../"+file)
		script := regexp.MustCompile(`git worktree add .*`).FindString(b)
		dir, base := history(t, "time.Millisecond", "time.Second")
		temp := t.TempDir()
		env := []string{"RUNNER_TEMP=" + temp, "BASE=" + base, "CI_PROJECT_DIR=" + temp, "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + base}
		for range 2 {
			if out, code := runStep(t, dir, script, env); code != 0 || script == "" {
				t.Errorf("%s, %q: exit code %d: %s", file, script, code, out)
			}
			must.OK(t, errors.Join(os.RemoveAll(filepath.Join(temp, "before")), os.RemoveAll(filepath.Join(temp, ".procfit"))))
		}
	}
}

// TestGitLabCheck runs the job on a repository with a finding.
func TestGitLabCheck(t *testing.T) {
	need.Everything(t, "it runs a job for GitLab; check_formats.txtar proves what procfit writes for one")
	for _, command := range []string{"bash", "git", "curl", "tar", "sha256sum"} {
		need.Command(t, command)
	}
	job := component(t, "check.yml", "procfit-check", map[string]string{"procfit": "v0.1.0"})
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "procfit.yaml"), "check: {paths: [a dir]}\n")
	must.Write(t, filepath.Join(dir, "a dir", "pod.yaml"), fmt.Sprintf(badPod, "8"))
	out, code := job.run(t, dir)
	report, err := os.ReadFile(filepath.Join(dir, job.Artifacts.Reports["junit"]))
	if code != exitFound || !strings.Contains(out, "PF001") || err != nil || !strings.Contains(string(report), "PF001") {
		t.Errorf("exit code %d, report %v: %s", code, err, out)
	}
}

// fleetRemote is a repository whose services print their throughput, and a clone of it, as a
// CI server has one. Its manifest has another value than the best.
func fleetRemote(t *testing.T) (remote, clone string) {
	t.Helper()
	for _, command := range []string{"bash", "git", "curl", "tar"} {
		need.Command(t, command)
	}
	dir := t.TempDir()
	remote, clone = filepath.Join(dir, "remote.git"), filepath.Join(dir, "clone")
	script := `git init -q --bare --initial-branch=main "$1"
git -C "$1" config receive.advertisePushOptions true
printf '#!/bin/sh\nenv | grep ^GIT_PUSH_OPTION_ >>options || true\n' >"$1/hooks/pre-receive"
chmod +x "$1/hooks/pre-receive"
git clone -q "$1" "$2" 2>/dev/null
cd "$2"
mkdir deploy
cat >fleet.yaml <<'END'
services:
  api:
    target: {command: [sh, ./job]}
    manifest: deploy/api.yaml
compare: {procs: [default, 1, 3], metric: ['throughput=(\d+) rows/s']}
load: {trialTime: 1ms}
stop: {until: trials=24}
END
printf 'exec fakebatch -work 0s -idle 300ms -print "throughput=$((${GOMAXPROCS:-2} * 100)) rows/s"\n' >job
cat >deploy/api.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: api}
spec: {containers: [{name: app, image: x, env: [{name: GOMAXPROCS, value: "2"}]}]}
END
git checkout -q -b main
git add .
git -c user.name=t -c user.email=t@example.com commit -qm all
git push -q origin main
`
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script, "bash", remote, clone)
	cmd.Env = alone()
	must.Output(t, cmd)
	return remote, clone
}

// proposed fails where the remote does not have the proposal on top of its main branch, and
// returns what else it has.
func proposed(t *testing.T, remote string) (results string) {
	t.Helper()
	if got := gitIn(t, remote, "show", "procfit/fleet:deploy/api.yaml"); !strings.Contains(got, `{name: GOMAXPROCS, value: "3"}`) {
		t.Errorf("%s", got)
	}
	if got := gitIn(t, remote, "rev-list", "--count", "main..procfit/fleet"); got != "1" {
		t.Errorf("the branch has %s commits", got)
	}
	if gitIn(t, remote, "branch", "--list", "procfit-results") == "" {
		return ""
	}
	return gitIn(t, remote, "ls-tree", "-r", "--name-only", "procfit-results")
}

// TestFleetScript: fleet.sh replaces nothing that somebody has pushed while procfit measured,
// and what fails in it does not look like an exit code of procfit.
func TestFleetScript(t *testing.T) {
	need.Everything(t, "it runs a script for CI on repositories; fleet.txtar proves what procfit does")
	t.Parallel()
	built.Reads(t, "../../../../deploy/ci")
	script := must.Get(filepath.Abs("../../../../deploy/ci/fleet.sh"))(t)
	fake := filepath.Join(t.TempDir(), "procfit")
	must.OK(t, os.WriteFile(fake, []byte(`#!/bin/sh
eval "$MEANWHILE"
[ "$CODE" -le 1 ] || exit "$CODE"
git update-ref refs/heads/procfit/fleet "$(git commit-tree 'HEAD^{tree}' -p HEAD -m ours)"
mkdir -p results/fleet/logs/m/c/logs # of a service with the name logs
for name in RESULTS.md logs/m/c/journal.jsonl logs/m/c/logs/1; do echo >results/fleet/$name; done
echo '  "branch": "procfit/fleet"' >results/fleet/fleet.json
exit "$CODE"
`), 0o755))
	push := func(branch string) string {
		return `git push -q origin "$(git commit-tree 'HEAD^{tree}' -p HEAD -m theirs):refs/heads/` + branch + `"`
	}
	for _, tc := range []struct {
		meanwhile string
		code      int
		proposal  string // that the remote then has
	}{
		{"", 1, "ours"},
		{push("procfit/fleet"), 3, "theirs"},
		{push("procfit-results"), 3, ""},
	} {
		remote, clone := fleetRemote(t)
		run := func(env ...string) int {
			t.Helper()
			out, code := runStep(t, clone, `bash "$SCRIPT" "$FAKE"`, append(env, "SCRIPT="+script, "FAKE="+fake))
			t.Logf("%s", out)
			return code
		}
		code := run("CODE=1", "MEANWHILE="+tc.meanwhile)
		if got := gitIn(t, remote, "for-each-ref", "--format=%(subject)", "refs/heads/procfit/fleet"); code != tc.code || got != tc.proposal {
			t.Errorf("%s: exit code %d, and the proposal is of %q", tc.meanwhile, code, got)
		}
		if tc.meanwhile != "" {
			continue
		}
		if got := gitIn(t, remote, "ls-tree", "-r", "--name-only", "procfit-results"); got != "RESULTS.md\nfleet.json\nlogs/m/c/journal.jsonl" {
			t.Errorf("the results are %s", got)
		}
		if code := run("CODE=2"); code != 2 {
			t.Errorf("exit code %d of a usage error", code)
		}
		if _, err := os.Stat(filepath.Join(clone, "results/fleet/RESULTS.md")); err == nil {
			t.Error("after a usage error, the page of the last run is there as one of this run")
		}
	}
}

// TestGitHubFleet runs the steps of the workflow, in two weeks.
func TestGitHubFleet(t *testing.T) {
	need.Everything(t, "runs two fleets; fleet.txtar proves what procfit does")
	t.Parallel()
	remote, clone := fleetRemote(t)
	workflow := githubWorkflow(t, "github-fleet.yaml")
	var asked []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		if len(asked) > 1 {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"message": "Validation Failed", "errors": [{"message": "A pull request already exists for acme:procfit/fleet."}]}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(api.Close)
	root := must.Get(filepath.Abs("../../../.."))(t)
	releases := released(t).URL
	job := workflow.Jobs["procfit"]
	job.Env["PROCFIT"], job.Env["BUILD"] = "v0.1.0", "true"
	values := strings.NewReplacer("${{ github.workspace }}/.procfit", root, "${{ github.token }}", "secret", "${{ github.ref_name }}", "main")
	week := func() {
		t.Helper()
		temp := t.TempDir()
		for _, s := range job.Steps {
			out, code := s.run(t, clone, job.Env, values, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"), "GITHUB_API_URL="+api.URL, "GITHUB_REPOSITORY=acme/shop",
				"GITHUB_SERVER_URL=https://github.example", "PROCFIT_RELEASES="+releases, "GH_TOKEN=") // with which gh would verify the archive
			if code != 0 {
				t.Fatalf("%s: exit code %d\n%s", s.Name, code, out)
			}
		}
	}
	week()
	results := proposed(t, remote)
	if !strings.Contains(results, "/RESULTS.md") || strings.Contains(results, "logs/") {
		t.Errorf("%s", results)
	}
	if len(asked) != 1 || !strings.HasPrefix(asked[0], `POST /repos/acme/shop/pulls Bearer secret {"title": "GOMAXPROCS of the fleet", "head": "procfit/fleet", "base": "main", `) {
		t.Errorf("%q", asked)
	}
	if got := gitIn(t, remote, "log", "-1", "--format=%B", "procfit/fleet"); !strings.Contains(got, "Report: https://github.example/acme/shop/blob/procfit-results/api/") {
		t.Error(got)
	}
	again := filepath.Join(t.TempDir(), "clone")
	if out, code := runStep(t, clone, `git -c user.name=t -c user.email=t@example.com commit -qm next --allow-empty && git push -q origin main && git clone -q "$REMOTE" "$AGAIN"`, []string{"REMOTE=" + remote, "AGAIN=" + again}); code != 0 {
		t.Fatal(out)
	}
	clone = again
	week()
	if later := proposed(t, remote); len(asked) != 2 || strings.Count(later, "/RESULTS.md") != 2 {
		t.Errorf("%q\n%s", asked, later)
	}
	page, err := os.ReadFile(filepath.Join(clone, "results/fleet/RESULTS.md"))
	if err != nil || strings.Contains(string(page), "first result here") {
		t.Errorf("%v: %s", err, page)
	}
	if len(workflow.Permissions) != 2 {
		t.Errorf("permissions %v: it pushes, and opens a pull request", workflow.Permissions)
	}
}

// TestGitLabFleet runs the job, which opens a merge request by options of its push.
func TestGitLabFleet(t *testing.T) {
	need.Everything(t, "runs a fleet; fleet.txtar proves what procfit does")
	t.Parallel()
	remote, clone := fleetRemote(t)
	job := component(t, "fleet.yml", "procfit-fleet", map[string]string{"procfit": "v0.1.0", "build": "true"})
	out, code := job.run(t, clone, "CI_DEFAULT_BRANCH=main", "CI_PROJECT_URL=https://gitlab.example/shop", "CI_SERVER_URL=https://gitlab.example", "CI_PROJECT_PATH=shop")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if results := proposed(t, remote); !strings.Contains(results, "/RESULTS.md") {
		t.Errorf("%s", results)
	}
	must.Say(t, must.Read(t, filepath.Join(remote, "options")), "_0=merge_request.create\n", "_1=merge_request.target=main\n", "_2=merge_request.title=GOMAXPROCS of the fleet\n")
	if job.Artifacts.When != "always" || len(job.Artifacts.Paths) == 0 {
		t.Errorf("artifacts %+v", job.Artifacts)
	}
}

// TestCronJobFleet runs the command of the CronJob.
func TestCronJobFleet(t *testing.T) {
	need.Everything(t, "runs a fleet; fleet.txtar proves what procfit does")
	t.Parallel()
	remote, clone := fleetRemote(t)
	b := must.Read(t, "../../../../deploy/kubernetes/fleet.yaml")
	decoder := yaml.NewDecoder(strings.NewReader(b))
	type container struct {
		Command, Args []string
		Env           []struct{ Name, Value string }
	}
	var found []container
	for {
		var o struct {
			Kind string
			Spec struct {
				JobTemplate struct {
					Spec struct {
						Template struct {
							Spec struct{ Containers []container }
						}
					}
				} `yaml:"jobTemplate"`
			}
		}
		if err := decoder.Decode(&o); err != nil {
			break
		}
		found = append(found, o.Spec.JobTemplate.Spec.Template.Spec.Containers...)
	}
	if len(found) != 1 || len(found[0].Args) != 1 {
		t.Fatalf("%+v", found)
	}
	results := t.TempDir()
	env := append(alone(), "TMPDIR="+t.TempDir())
	for _, v := range found[0].Env {
		env = append(env, v.Name+"="+map[string]string{"RESULTS": results, "REPOSITORY": remote, "HOME": t.TempDir()}[v.Name])
		if v.Value != "" && v.Name != "RESULTS" && v.Name != "HOME" {
			env[len(env)-1] = v.Name + "=" + v.Value
		}
	}
	words := append(found[0].Command, found[0].Args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = clone, env
	must.Output(t, cmd)
	proposed(t, remote)
	if _, err := os.Stat(filepath.Join(results, "report.html")); err != nil {
		t.Error(err)
	}
}
