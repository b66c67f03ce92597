package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// A rehearsal is a release of this working tree, made in a repository of its own.
type rehearsal struct {
	repository string
	dist       string
	whole      bool // for all systems and in all forms, or Linux' archive and Debian's package
}

// TestRelease makes what a release publishes, and installs it as users do. With
// PROCFIT_FULL=1 it makes everything, and once more in another place; else only an archive
// and a package for Linux.
func TestRelease(t *testing.T) {
	full := need.Whole()
	need.Everything(t, "builds procfit, and goreleaser, which takes minutes the first time")
	for _, tool := range []string{"git", "dpkg", "busybox", "man", "bash", "systemd-analyze", "unshare"} {
		need.Command(t, tool)
	}
	need.Root(t) // to install packages in a root of their own
	t.Parallel()
	r := rehearse(t, full)
	t.Run("configuration", r.configuration)
	t.Run("archive", r.archive)
	t.Run("procfit-run", r.small)
	t.Run("licences", r.licences)
	t.Run("deb", r.deb)
	t.Run("krew", r.krew)
	if full {
		t.Run("again", r.again)
		t.Run("rpm", r.rpm)
		t.Run("apk", r.apk)
		t.Run("sboms", r.sboms)
		t.Run("winget", r.winget)
		t.Run("formula", r.formula)
		t.Run("nix", r.nix)
	}
}

// rehearse does what RELEASING.md says up to the push, in a copy of the working tree.
func rehearse(t *testing.T, whole bool) rehearsal {
	t.Helper()
	r := rehearsal{repository: t.TempDir(), whole: whole}
	checkout(t, r.repository)
	if !strings.Contains(read(t, filepath.Join(r.repository, "CHANGELOG.md")), "\n## ["+version[1:]+"]") {
		r.edit(t, "CHANGELOG.md", regexp.MustCompile(`(?m)^## \[Unreleased\]$`), "## [Unreleased]\n\n## ["+version[1:]+"] - 2026-12-01")
	}
	args := []string{}
	if !whole {
		r.edit(t, ".goreleaser.yaml", regexp.MustCompile(`targets: &systems \[linux_amd64, [^]]*\]`), "targets: &systems [linux_amd64]")
		r.edit(t, ".goreleaser.yaml", regexp.MustCompile(`formats: \[deb, rpm, apk\]`), "formats: [deb]")
		args = append(args, "--skip=sbom,homebrew,winget")
	}
	day := time.Now().UTC().Add(-24 * time.Hour).Format(time.RFC3339) // an archive that has its build's time is found out
	for _, line := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "release"},
		{"tag", "maxprocs/" + version},
		{"tag", version},
		{"remote", "add", "origin", "https://github.com/procfit/procfit"},
	} {
		r.run(t, r.repository, append([]string{"GIT_AUTHOR_DATE=" + day, "GIT_COMMITTER_DATE=" + day}, os.Environ()...), append([]string{"git"}, line...)...)
	}
	start := time.Now()
	t.Logf("%s", r.run(t, r.repository, os.Environ(), append([]string{".ci/release"}, args...)...))
	t.Logf(".ci/release took %v", time.Since(start).Round(time.Second))
	r.dist = filepath.Join(r.repository, "dist")
	if left := r.run(t, r.repository, os.Environ(), "git", "status", "--porcelain"); left != "" {
		t.Errorf("the release left in its repository: %s", left)
	}
	return r
}

// configuration: goreleaser takes all of it, and nothing in it is deprecated.
func (r rehearsal) configuration(t *testing.T) {
	env := append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	program := strings.TrimSpace(r.run(t, root, env, "go", "-C", "test/release/goreleaser", "tool", "-n", "goreleaser"))
	out := r.run(t, root, env, program, "check", ".goreleaser.yaml")
	if strings.Contains(out, "deprecated") || !strings.Contains(out, "validated") {
		t.Error(out)
	}
}

// again lets the script for strangers build the tag in another folder, home and host, and
// compare. It must refuse an archive of which a byte differs.
func (r rehearsal) again(t *testing.T) {
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "USER=stranger", "LOGNAME=stranger", "TZ=Asia/Tokyo", "LC_ALL=C",
		"GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOCACHE="+t.TempDir(), "GOENV=off") // everything is compiled again
	stranger := []string{"unshare", "--uts", "sh", "-c", `hostname stranger && umask 077 && exec "$0" "$@"`, filepath.Join(r.repository, ".ci/verify-release")}
	out := r.run(t, home, env, append(stranger, "--unsigned", version, r.dist, r.repository)...)
	t.Log(out)
	const want = 20 // six archives of each program, procfit-run itself and three packages for each of two processors
	if same := strings.Count(out, "gives the same bytes"); same != want {
		t.Errorf("%d files are the same, expected %d", same, want)
	}

	altered := t.TempDir()
	b := []byte(read(t, r.file("linux_amd64.tar.gz")))
	b[len(b)/2] ^= 1
	must.Write(t, filepath.Join(altered, filepath.Base(r.file("linux_amd64.tar.gz"))), string(b))
	must.Write(t, filepath.Join(altered, "checksums.txt"), read(t, filepath.Join(r.dist, "checksums.txt")))
	cmd := exec.Command(filepath.Join(r.repository, ".ci/verify-release"), "--unsigned", version, altered, r.repository)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "FAILED") {
		t.Errorf("an archive with another byte: %v, %s", err, out)
	}
	// Without the signature of the workflow, which a rehearsal does not have.
	cmd = exec.Command(filepath.Join(r.repository, ".ci/verify-release"), version, r.dist, r.repository)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "cosign") || strings.Contains(string(out), "same bytes") {
		t.Errorf("a release without a signature: %v, %s", err, out)
	}
}

// archive unpacks Linux' archive, runs the program, shows a page and completes a word.
func (r rehearsal) archive(t *testing.T) {
	start := time.Now()
	dir := t.TempDir()
	files := r.unpack(t, dir, "procfit")
	for _, name := range []string{"procfit", "LICENSE", "THIRD-PARTY-LICENSES.txt", "man/man1/procfit.1", "completions/procfit.bash", "completions/_procfit", "completions/procfit.fish", "completions/procfit.ps1"} {
		if !slices.Contains(files, name) {
			t.Errorf("the archive has no %s", name)
		}
	}
	program := filepath.Join(dir, "procfit")
	shows(t, exec.Command(program, "version"), "procfit "+version+"\n")
	size(t, r.file("linux_amd64.tar.gz"), time.Since(start))
	static(t, program)
	if f, err := os.Stat(program); err != nil || f.Size() > largestTool {
		t.Errorf("%s: %v, %d bytes, at most %d: does it link what calls methods by name, or sort one more type with slices.SortFunc, which is larger than SortStableFunc?", program, err, f.Size(), largestTool)
	}
	used(t, dir, filepath.Join(dir, "man"), filepath.Join(dir, "completions/procfit.bash"))
}

// used is what a user does with the program in the folder bin, its pages and its
// completion.
func used(t *testing.T, bin, man, completion string) {
	t.Helper()
	page := exec.Command("man", "-M", man, "procfit-sweep")
	page.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MANPAGER=cat")
	shows(t, page, "procfit-sweep - ", "--trial-time", "procfit "+version)
	complete := exec.Command("bash", "--norc", "-c", `source /usr/share/bash-completion/bash_completion && source "$0" && complete -p procfit &&
COMP_WORDS=(procfit swe) COMP_CWORD=1 COMP_LINE="procfit swe" COMP_POINT=11 && __start_procfit && printf '%s\n' "${COMPREPLY[@]}"`, completion)
	complete.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	shows(t, complete, "__start_procfit procfit\n", "\nsweep")
}

// static: the program needs nothing of the system, and says what it was built from.
func static(t *testing.T, program string) {
	t.Helper()
	f := must.Get(elf.Open(program))(t)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%s is not static: it has a segment %v", program, p.Type)
		}
	}
	if f.Section(".symtab") != nil || f.Section(".debug_info") != nil {
		t.Errorf("%s is not stripped", program)
	}
	info := must.Get(buildinfo.ReadFile(program))(t)
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if info.Main.Version != version || set["CGO_ENABLED"] != "0" || set["-trimpath"] != "true" || set["vcs.modified"] != "false" {
		t.Errorf("%s %v", info.Main.Version, set)
	}
}

// licences: the licence of every module that is in a program is in the file of all.
func (r rehearsal) licences(t *testing.T) {
	r.licencesOf(t, "procfit", ".release/THIRD-PARTY-LICENSES.txt", 50)
	r.licencesOf(t, "procfit-run", ".release/procfit-run/THIRD-PARTY-LICENSES.txt", 2)
}

// licencesOf: the file has those of a program, which links so many modules at least.
func (r rehearsal) licencesOf(t *testing.T, name, file string, least int) {
	t.Helper()
	text := read(t, filepath.Join(r.repository, file))
	for _, program := range r.programs(t, name, "*") {
		info := must.Get(buildinfo.ReadFile(program))(t)
		if !strings.Contains(text, "\nGo's standard library and runtime "+info.GoVersion+"\n") || len(info.Deps) < least {
			t.Errorf("%s: %s, %d modules", program, info.GoVersion, len(info.Deps))
		}
		for _, d := range info.Deps {
			if !strings.HasPrefix(d.Path, tool) && !strings.Contains(text, "\n"+d.Path+" "+d.Version+"\n") {
				t.Errorf("%s has %s %s, whose licence is not given", program, d.Path, d.Version)
			}
		}
	}
}

// programs are what was built of one for a system, or for all.
func (r rehearsal) programs(t *testing.T, name, system string) []string {
	t.Helper()
	programs, err := filepath.Glob(filepath.Join(r.dist, name+"_"+system+"_*", name+"*"))
	want := 1
	if system == "*" && r.whole {
		want = 6
	}
	if err != nil || len(programs) != want {
		t.Fatalf("%s for %s: %v, %v", name, system, programs, err)
	}
	return programs
}

// file is the path of an artifact of procfit.
func (r rehearsal) file(end string) string { return r.fileOf("procfit", end) }

func (r rehearsal) fileOf(program, end string) string {
	return filepath.Join(r.dist, program+"_"+version[1:]+"_"+end)
}

// edit replaces what exactly one part of a file is.
func (r rehearsal) edit(t *testing.T, name string, old *regexp.Regexp, with string) {
	t.Helper()
	path := filepath.Join(r.repository, name)
	text := read(t, path)
	if n := len(old.FindAllString(text, -1)); n != 1 {
		t.Fatalf("%s has %d of %v, expected 1", name, n, old)
	}
	must.Write(t, path, old.ReplaceAllLiteralString(text, with))
}

func (r rehearsal) run(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	return must.Output(t, cmd)
}

// unpack writes a program's archive for Linux into the folder and returns the names of its
// files.
func (r rehearsal) unpack(t *testing.T, dir, program string) (names []string) {
	t.Helper()
	z := must.Get(gzip.NewReader(strings.NewReader(read(t, r.fileOf(program, "linux_amd64.tar.gz")))))(t)
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			return names
		} else if err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if h.Name == program {
			mode = 0o755
		}
		if h.FileInfo().Mode() != mode || h.Uname != "root" || time.Since(h.ModTime) < 23*time.Hour {
			t.Errorf("%s: %v of %s from %v", h.Name, h.FileInfo().Mode(), h.Uname, h.ModTime)
		}
		var b bytes.Buffer
		must.Get(io.Copy(&b, in))(t)
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		must.Write(t, path, b.String())
		must.OK(t, os.Chmod(path, mode))
		names = append(names, h.Name)
	}
}

// shows runs a command, which must print all of the texts.
func shows(t *testing.T, cmd *exec.Cmd, texts ...string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	for _, text := range texts {
		if err != nil || !strings.Contains(string(out), text) {
			t.Errorf("%v: %v, %.500q is without %q", cmd.Args, err, out, text)
		}
	}
}

// size logs a row of the table of channels.
func size(t *testing.T, file string, took time.Duration) {
	t.Helper()
	f := must.Get(os.Stat(file))(t)
	t.Logf("%s: %.1f MB, procfit version after %v", f.Name(), float64(f.Size())/1e6, took.Round(10*time.Millisecond))
}

// read opens what is below root by a name that begins with the test's folder, before the dots:
// go test takes a result from its cache unless a file with such a name has changed.
func read(t *testing.T, path string) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = must.Get(os.Getwd())(t) + "/" + path
	}
	return must.Read(t, path)
}
