// Package git asks the git command about a repository, and makes commits on a branch that
// is not checked out.
//
// # Model
//
// A Repository is what `git` finds from a folder, with the user's own configuration. Commits
// are made of blobs in an index of their own (git-read-tree, git-update-index,
// git-write-tree, git-commit-tree), so that neither the files in the folder, nor the user's
// index, nor the branch that is checked out change. A branch moves only from where it was
// when it was looked at (git-update-ref), and nothing is sent to another repository.
//
// A repository may come from somebody else, with its configuration. So no program runs that
// it names: no hook (also not reference-transaction and post-index-change), no monitor of its
// files, none of its filters, and nothing is fetched for a partial clone.
//
// # Limits
//
// Filters of .gitattributes are not applied to what is committed: a text is changed as the
// repository has it. Commits are not signed. What is changed inside of a submodule, and not
// committed there, is not seen. Git before 2.26 cannot say which filters are the repository's:
// it is an error.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNone is that a folder is in no repository, or that there is no git command.
var ErrNone = errors.New("there is no git repository")

// Repository is one, as it is seen from a folder.
type Repository struct {
	dir    string
	quiet  []string // settings that keep the repository's filters from running
	Commit string   // that is checked out
	Dirty  bool     // files that git has are changed and not committed
}

// Open looks at the repository that a folder is in. The error may be ErrNone.
func Open(ctx context.Context, dir string) (*Repository, error) {
	r := &Repository{dir: dir}
	inside, err := r.run(ctx, nil, "rev-parse", "--is-inside-work-tree")
	switch {
	case errors.Is(err, exec.ErrNotFound), err != nil && strings.Contains(err.Error(), "not a git repository"):
		return nil, ErrNone
	case err != nil && strings.Contains(err.Error(), "dubious ownership"):
		return nil, fmt.Errorf("%w: another user owns it, and git status prints the command that allows its use", err)
	case err != nil:
		return nil, err
	case inside != "true":
		return nil, ErrNone
	}
	if err := r.findFilters(ctx); err != nil {
		return nil, err
	}
	if r.Commit, err = r.run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return nil, errors.New("the git repository has no commit yet: commit its files first")
	}
	changed, err := r.run(ctx, nil, "status", "--porcelain", "--untracked-files=no", ofSubmodules)
	r.Dirty = changed != ""
	return r, err
}

// Untracked are the files of the folder, and of those below it, that git neither has nor ignores.
func (r *Repository) Untracked(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	return strings.FieldsFunc(out, func(c rune) bool { return c == 0 }), err
}

// ofSubmodules keeps git status from running in them, with settings of their own.
const ofSubmodules = "--ignore-submodules=dirty"

// findFilters finds the filters that the repository itself configures, which git status would
// run. Those of the user are not among them.
func (r *Repository) findFilters(ctx context.Context) error {
	found, err := r.run(ctx, nil, "config", "--show-scope", "-z", "--name-only", "--get-regexp", `^filter\..*\.(clean|process|required|smudge)$`)
	if none, ok := errors.AsType[*exec.ExitError](err); ok && none.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		return err
	}
	for words := strings.Split(strings.TrimSuffix(found, "\x00"), "\x00"); len(words) > 1; words = words[2:] {
		scope, key := words[0], words[1]
		switch {
		case scope == "global" || scope == "system" || scope == "command":
		case strings.Contains(key, "="):
			return fmt.Errorf("the repository has a filter with = in its name, %q; remove it from .git/config", key)
		case strings.HasSuffix(key, ".required"):
			r.quiet = append(r.quiet, "-c", key+"=false")
		default:
			r.quiet = append(r.quiet, "-c", key+"=")
		}
	}
	return nil
}

// Short is the commit in the form that people read.
func (r *Repository) Short() string { return r.Commit[:min(12, len(r.Commit))] }

func (r *Repository) run(ctx context.Context, stdin []byte, args ...string) (string, error) {
	return r.with(ctx, nil, stdin, args...)
}

// with is run with variables of the environment.
func (r *Repository) with(ctx context.Context, env []string, stdin []byte, args ...string) (string, error) {
	out, err := r.output(ctx, env, stdin, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// ofAHook are the variables by which git names its repository to what it runs, such as a hook.
// procfit's is the repository of its folder.
var ofAHook = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"}

// output is with, byte by byte.
func (r *Repository) output(ctx context.Context, env []string, stdin []byte, args ...string) ([]byte, error) {
	settings := append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, r.quiet...)
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Dir, cmd.Stdin = r.dir, bytes.NewReader(stdin)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(ofAHook, name)
	})
	cmd.Env = append(append(cmd.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL="), env...)
	var out, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if why := reason(wrong.String()); why != "" {
			return nil, fmt.Errorf("git %s: %s", args[0], why)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// reason is why git failed: the first error that it printed, which may come after warnings.
func reason(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	for _, line := range lines {
		for _, head := range []string{"fatal: ", "error: "} {
			if why, ok := strings.CutPrefix(line, head); ok {
				return why
			}
		}
	}
	return lines[0]
}

// File is a file of the commit that is checked out.
type File struct {
	Path string // from the top of the repository
	Text []byte
	mode string
}

// Read reads a file as the commit has it. One that is changed and not committed is an error,
// as is one that git does not have, or that is outside of the repository.
func (r *Repository) Read(ctx context.Context, name string) (*File, error) {
	listed, err := r.run(ctx, nil, "ls-tree", "--full-name", "-z", r.Commit, "--", filepath.ToSlash(filepath.Clean(name)))
	if err != nil {
		return nil, err
	}
	head, path, found := strings.Cut(strings.TrimSuffix(listed, "\x00"), "\t")
	fields := strings.Fields(head)
	switch {
	case !found || len(fields) != 3:
		return nil, errors.New("git does not have it: commit it first")
	case fields[1] != "blob" || fields[0] == "120000":
		return nil, errors.New("git has it as a folder or a link, not as a file")
	}
	if changed, err := r.run(ctx, nil, "status", "--porcelain", ofSubmodules, "--", filepath.ToSlash(filepath.Clean(name))); err != nil || changed != "" {
		return nil, errors.Join(errors.New("it has changes that are not committed: commit them first"), err)
	}
	text, err := r.output(ctx, nil, nil, "cat-file", "blob", fields[2])
	return &File{path, text, fields[0]}, err
}

// Change is a commit to be made: a file with another text.
type Change struct {
	*File
	Message string
	When    string // the date of the commit, in a form that git reads
}

// Mark is the line by which a commit is known to be one of Propose.
const Mark = "Proposed-by: procfit fleet"

// Check reports why Propose could not make the branch, before there is something to propose.
func (r *Repository) Check(ctx context.Context, branch string) error {
	// Of @{-1}, git prints the branch that it means.
	if name, err := r.run(ctx, nil, "check-ref-format", "--branch", branch); err != nil || name != branch {
		return fmt.Errorf("%q is not a name for a branch", branch)
	}
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := r.run(ctx, nil, "var", who); err != nil {
			return errors.New("git does not know who creates the commits; try: git config user.email YOU@EXAMPLE.COM, and git config user.name YOU")
		}
	}
	heads, err := r.run(ctx, nil, "for-each-ref", "--format=%(refname)", refs)
	if err != nil {
		return err
	}
	for ref := range strings.SplitSeq(heads, "\n") {
		name := strings.TrimPrefix(ref, refs)
		if strings.HasPrefix(name, branch+"/") || name != "" && strings.HasPrefix(branch, name+"/") {
			return fmt.Errorf("git cannot have branch %s next to branch %s: give another name", branch, name)
		}
	}
	trees, err := r.run(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	if slices.Contains(strings.Split(trees, "\n"), "branch "+refs+branch) {
		return fmt.Errorf("branch %s is checked out, and procfit does not change that; try: git switch main", branch)
	}
	_, err = r.tip(ctx, branch)
	return err
}

const refs = "refs/heads/"

// tip is where a branch is now; empty: there is none. One with other commits than those of
// Propose is an error.
func (r *Repository) tip(ctx context.Context, branch string) (string, error) {
	old, err := r.run(ctx, nil, "for-each-ref", "--format=%(objectname)", refs+branch)
	if err != nil || old == "" {
		return "", err
	}
	all, err := r.run(ctx, nil, "rev-list", "--count", r.Commit+".."+old)
	if err != nil {
		return "", err
	}
	marked, err := r.run(ctx, nil, "rev-list", "--format=%at %ct", "--basic-regexp", "--grep=^"+Mark+"$", r.Commit+".."+old)
	if err != nil {
		return "", err
	}
	ours := 0
	for line := range strings.SplitSeq(marked, "\n") {
		// One that somebody has amended has another date as its committer's.
		if author, committer, ok := strings.Cut(line, " "); ok && author == committer {
			ours++
		}
	}
	if strconv.Itoa(ours) != all {
		return "", r.foreign(ctx, branch)
	}
	return old, nil
}

// foreign is why a branch is not replaced.
func (r *Repository) foreign(ctx context.Context, branch string) error {
	if shallow, _ := r.run(ctx, nil, "rev-parse", "--is-shallow-repository"); shallow == "true" {
		return fmt.Errorf("the clone is shallow and does not show who created the commits of branch %s; try: git fetch --unshallow", branch)
	}
	return fmt.Errorf("branch %s has commits that procfit did not create; merge it, or delete it: git branch -D %[1]s", branch)
}

// Pending reports whether the branch has commits of Propose that are not in the one that is
// checked out.
func (r *Repository) Pending(ctx context.Context, branch string) (bool, error) {
	old, err := r.tip(ctx, branch)
	if err != nil || old == "" {
		return false, err
	}
	ahead, err := r.run(ctx, nil, "rev-list", "--max-count=1", r.Commit+".."+old)
	return ahead != "", err
}

// Propose makes the branch out of the commit that is checked out and the changes, a commit
// each, and returns the commits. An earlier branch of Propose is replaced.
func (r *Repository) Propose(ctx context.Context, branch string, changes []Change) (commits []string, err error) {
	if err := r.Check(ctx, branch); err != nil {
		return nil, err
	}
	old, err := r.tip(ctx, branch)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "procfit-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tip, index := r.Commit, []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	for _, c := range changes {
		if tip, err = r.commit(ctx, tip, c, index); err != nil {
			return nil, err
		}
		commits = append(commits, tip)
	}
	_, err = r.run(ctx, nil, "update-ref", "-m", "procfit fleet", refs+branch, tip, old)
	return commits, err
}

func (r *Repository) commit(ctx context.Context, parent string, c Change, index []string) (string, error) {
	blob, err := r.run(ctx, c.Text, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{{"read-tree", parent}, {"update-index", "--cacheinfo", c.mode + "," + blob + "," + c.Path}} {
		if _, err := r.with(ctx, index, nil, args...); err != nil {
			return "", err
		}
	}
	tree, err := r.with(ctx, index, nil, "write-tree")
	if err != nil {
		return "", err
	}
	dates := []string{"GIT_AUTHOR_DATE=" + c.When, "GIT_COMMITTER_DATE=" + c.When}
	return r.with(ctx, dates, []byte(strings.TrimSpace(c.Message)+"\n\n"+Mark+"\n"), "commit-tree", tree, "-p", parent)
}
