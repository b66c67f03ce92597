package release

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// ownBuild is a command line that builds or installs procfit, with its environment.
var ownBuild = regexp.MustCompile("((?:\\w+=\\S* )*)\\bgo (?:-C \\S+ )?(?:build|install) [^`]*procfit(?:@|`|\\s|$)")

// TestBuildsAreStatic: every build of procfit that the pages and recipes name is without
// cgo, so that procfit kube image and an image from scratch take the program.
func TestBuildsAreStatic(t *testing.T) {
	found := 0
	check := func(path string) {
		for _, line := range strings.Split(read(t, path), "\n") {
			for _, m := range ownBuild.FindAllStringSubmatch(line, -1) {
				found++
				if !strings.Contains(m[1], "CGO_ENABLED=0 ") && !strings.Contains(line, "On Windows") { // which has no C library of its own
					t.Errorf("%s: without CGO_ENABLED=0: %s", path, m[0])
				}
			}
		}
	}
	for _, top := range []string{"README.md", "CONTRIBUTING.md", "RELEASING.md", "docs", "deploy", "templates", "action.yml", ".github"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && filepath.Ext(path) != ".go" && filepath.Ext(path) != ".png" {
				check(path)
			}
			return err
		})
		must.OK(t, err)
	}
	if found < 8 {
		t.Errorf("only %d builds found: the expression does not see them", found)
	}
}

// TestReleasedPages: once the changelog has a version, no page says that there is none.
func TestReleasedPages(t *testing.T) {
	changelog := read(t, filepath.Join(root, "CHANGELOG.md"))
	released := strings.Contains(changelog, "\n## ["+version[1:]+"]")
	for _, name := range []string{"README.md", "SECURITY.md", "docs/how-to/install.md"} {
		if says := strings.Contains(read(t, filepath.Join(root, name)), "has not been released yet"); says == released {
			t.Errorf("%s says that nothing has been released: %t; CHANGELOG.md has %s: %t", name, says, version, released)
		}
	}
}

// TestWorkflow: what runs with the right to publish is fixed by its commit, and the
// signature that users are to expect is that of the workflow.
func TestWorkflow(t *testing.T) {
	const workflow = ".github/workflows/release.yaml"
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d`)
	uses := 0
	for _, line := range strings.Split(read(t, filepath.Join(root, workflow)), "\n") {
		if _, action, ok := strings.Cut(line, "uses: "); ok {
			uses++
			if !pinned.MatchString(action) {
				t.Errorf("%s is not fixed by a commit", action)
			}
		}
	}
	if uses < 3 {
		t.Errorf("%d actions", uses)
	}
	for _, name := range []string{".ci/verify-release", "RELEASING.md"} {
		if !strings.Contains(read(t, filepath.Join(root, name)), "https://github.com/procfit/procfit/"+workflow+"@refs/tags/") {
			t.Errorf("%s does not expect the signature of %s", name, workflow)
		}
	}
}
