package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// repository is one with a commit, in a folder below which there is another.
func repository(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	need.Command(t, "git")
	dir = t.TempDir()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	git = func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(must.Output(t, exec.Command("git", append([]string{"-C", dir}, args...)...)))
	}
	git("init", "--quiet", "--initial-branch=main")
	must.Write(t, filepath.Join(dir, "deploy", "api.yaml"), "a: 1\n")
	must.Write(t, filepath.Join(dir, "deploy", "web.yaml"), "b: 1\r\n")
	git("add", ".")
	git("commit", "--quiet", "--message=first")
	return dir, git
}

// TestPropose: the branch has the changes, a commit each; the files, the index and the
// branch that is checked out stay as they are, with what is not committed.
func TestPropose(t *testing.T) {
	dir, git := repository(t)
	must.Write(t, filepath.Join(dir, "notes.txt"), "mine\n")
	git("add", "notes.txt")
	must.Write(t, filepath.Join(dir, "notes.txt"), "mine, changed\n")
	before := git("status", "--porcelain") + git("rev-parse", "HEAD") + git("write-tree")
	r, err := Open(t.Context(), filepath.Join(dir, "deploy")) // below the top
	if err != nil || !r.Dirty || r.Commit != git("rev-parse", "main") || !strings.HasPrefix(r.Commit, r.Short()) {
		t.Fatalf("%v: %+v", err, r)
	}
	propose := func(text string) []string {
		t.Helper()
		var changes []Change
		for _, name := range []string{"api.yaml", "web.yaml"} {
			f := must.Get(r.Read(t.Context(), name))(t)
			f.Text = append(f.Text, text...)
			changes = append(changes, Change{f, name + " by hand\n\nbecause", "2026-01-31T00:00:00Z"})
		}
		return must.Get(r.Propose(t.Context(), "procfit/fleet", changes))(t)
	}
	first := propose("# new\n")
	if again := propose("# new\n"); again[1] != first[1] {
		t.Errorf("the same changes are %s, then %s", first, again)
	}
	if second := propose("# newer\n"); second[1] == first[1] {
		t.Error("other changes are the same commit")
	}
	if got := git("show", "procfit/fleet:deploy/web.yaml"); got != "b: 1\r\n# newer" {
		t.Errorf("%q", got)
	}
	if got, want := git("log", "--format=%B%aI", "procfit/fleet", "^main"), "web.yaml by hand\n\nbecause\n\n"+Mark+"\n2026-01-31T00:00:00+00:00\napi.yaml by hand\n\nbecause\n\n"+Mark+"\n2026-01-31T00:00:00+00:00"; strings.ReplaceAll(strings.ReplaceAll(got, "\n\n2026", "\n2026"), "Z", "+00:00") != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if after := git("status", "--porcelain") + git("rev-parse", "HEAD") + git("write-tree"); after != before {
		t.Errorf("%s\nbefore\n%s", after, before)
	}

	// A branch that somebody works on is left alone.
	git("switch", "--quiet", "procfit/fleet")
	if err := r.Check(t.Context(), "procfit/fleet"); err == nil || !strings.Contains(err.Error(), "is checked out") {
		t.Error(err)
	}
	git("switch", "--quiet", "main")
	if pending, err := r.Pending(t.Context(), "procfit/fleet"); err != nil || !pending {
		t.Errorf("%v: the branch waits to be merged: %v", err, pending)
	}
	if pending, err := r.Pending(t.Context(), "absent"); err != nil || pending {
		t.Errorf("%v: a branch that is not there: %v", err, pending)
	}
	t.Setenv("GIT_AUTHOR_DATE", "2026-01-31T00:00:00Z") // which is what stays of a commit that is amended
	for _, message := range []string{"mine too", "amended\n\n" + Mark} {
		git("update-ref", "refs/heads/procfit/fleet", git("commit-tree", "procfit/fleet^{tree}", "-p", "main", "-m", message))
		if _, err := r.Propose(t.Context(), "procfit/fleet", nil); err == nil || !strings.Contains(err.Error(), "has commits that procfit did not create; merge it, or delete it: git branch -D procfit/fleet") {
			t.Errorf("%q: %v", message, err)
		}
	}
}

// A clone without its history cannot show whose commits a branch has.
func TestShallow(t *testing.T) {
	dir, git := repository(t)
	r := must.Get(Open(t.Context(), dir))(t)
	f, err := r.Read(t.Context(), "deploy/api.yaml")
	must.OK(t, err)
	must.Get(r.Propose(t.Context(), "procfit/fleet", []Change{{f, "by hand", "2026-01-31T00:00:00Z"}}))(t)
	git("commit", "--quiet", "--allow-empty", "--message=second")
	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "--quiet", "--depth=1", "--branch=main", "file://"+dir, clone)
	git("-C", clone, "fetch", "--quiet", "origin", "+refs/heads/procfit/fleet:refs/heads/procfit/fleet")
	if r, err = Open(t.Context(), clone); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(t.Context(), "procfit/fleet"); err == nil || !strings.Contains(err.Error(), "the clone is shallow") {
		t.Error(err)
	}
}

func TestRefuses(t *testing.T) {
	dir, git := repository(t)
	r, err := Open(t.Context(), dir)
	if err != nil || r.Dirty {
		t.Fatalf("%v: %+v", err, r)
	}
	must.Write(t, filepath.Join(dir, "new.yaml"), "")
	must.Write(t, filepath.Join(dir, "deploy", "web.yaml"), "c: 1\n")
	must.OK(t, os.Symlink("deploy/api.yaml", filepath.Join(dir, "link.yaml")))
	git("add", "link.yaml")
	git("commit", "--quiet", "--message=link", "link.yaml")
	if r, err = Open(t.Context(), dir); err != nil || !r.Dirty {
		t.Fatalf("%v: %+v", err, r)
	}
	for name, want := range map[string]string{
		"new.yaml": "git does not have it: commit it first", "absent.yaml": "git does not have it", "deploy/web.yaml": "it has changes that are not committed",
		"deploy": "as a folder or a link", "link.yaml": "as a folder or a link", "../x.yaml": "outside repository",
	} {
		if _, err := r.Read(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	git("switch", "--quiet", "--create", "team/fleet")
	git("switch", "--quiet", "main")
	for branch, want := range map[string]string{
		"a..b": `"a..b" is not a name for a branch`, "@{-1}": `"@{-1}" is not a name for a branch`,
		"team": "git cannot have branch team next to branch team/fleet", "main/fleet": "git cannot have branch main/fleet next to branch main",
	} {
		if err := r.Check(t.Context(), branch); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", branch, err, want)
		}
	}
	t.Setenv("GIT_COMMITTER_EMAIL", "")
	t.Setenv("GIT_COMMITTER_NAME", "")
	t.Setenv("EMAIL", "")
	git("config", "user.useConfigOnly", "true")
	if err := r.Check(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "git config user.email") {
		t.Error(err)
	}
	t.Setenv("GIT_COMMITTER_EMAIL", "a@example.com")
	t.Setenv("GIT_COMMITTER_NAME", "a")
	t.Setenv("GIT_AUTHOR_NAME", "")
	if err := r.Check(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "git config user.email") {
		t.Errorf("without an author: %v", err)
	}
}

func TestReason(t *testing.T) {
	for printed, want := range map[string]string{
		"": "",
		"fatal: not a git repository (or any of the parent directories): .git\n":                                                 "not a git repository (or any of the parent directories): .git",
		"warning: unable to access '/root/.config/git/attributes': Permission denied\nfatal: not a git repository: x\nhint: y\n": "not a git repository: x",
		"error: one\nfatal: two\n": "one",
		"usage: git\n -v":          "usage: git",
	} {
		if got := reason(printed); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
}

func TestOpenNone(t *testing.T) {
	dir, _ := repository(t)
	empty := t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(dir, ".git")) // as in a hook
	if _, err := Open(t.Context(), empty); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	os.Unsetenv("GIT_DIR")
	must.OK(t, exec.Command("git", "init", "--quiet", empty).Run())
	if _, err := Open(t.Context(), empty); err == nil || !strings.Contains(err.Error(), "no commit yet") {
		t.Error(err)
	}
	t.Setenv("PATH", empty)
	if _, err := Open(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ended, dir); err == nil {
		t.Error("a git that cannot be asked finds a repository")
	}
}

// TestNothingRuns: no program that a repository names runs, neither when it is read nor when a
// branch is proposed: a monitor, a hook, a filter.
func TestNothingRuns(t *testing.T) {
	dir, git := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	must.OK(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n"), 0o755))
	must.Write(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter=x\n")
	for key, value := range map[string]string{"core.fsmonitor": program, "filter.x.clean": program + " clean", "filter.x.required": "true", "filter.y.process": program} {
		git("config", key, value)
	}
	for _, hook := range []string{"reference-transaction", "post-index-change", "pre-commit", "post-commit"} {
		must.OK(t, os.Symlink(program, filepath.Join(dir, ".git", "hooks", hook)))
	}
	must.Write(t, filepath.Join(dir, "deploy", "web.yaml"), "b: 2\r\n") // of the same size: its content is compared
	if git("status"); func() bool { _, err := os.Stat(ran); return err != nil }() {
		t.Fatal("git itself runs none of them: the test proves nothing")
	}
	must.OK(t, os.Remove(ran))
	r, err := Open(t.Context(), dir)
	if err != nil || !r.Dirty {
		t.Fatalf("%+v, %v", r, err)
	}
	f := must.Get(r.Read(t.Context(), "deploy/api.yaml"))(t)
	f.Text = []byte("a: 2\n")
	must.Get(r.Propose(t.Context(), "procfit/fleet", []Change{{f, "why", "2026-01-31T00:00:00Z"}}))(t)
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("it ran:\n%s", b)
	}
	git("config", "filter.a=b.clean", program)
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "filter with = in its name") {
		t.Error(err)
	}
}
