package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The archives that Homebrew's formula and Nix' recipe name, by what the two call a system.
var (
	formulaSystems = map[string]string{"macos arm": "darwin_arm64", "macos intel": "darwin_amd64", "linux arm": "linux_arm64", "linux intel": "linux_amd64"}
	nixSystems     = map[string]string{"aarch64-darwin": "darwin_arm64", "x86_64-darwin": "darwin_amd64", "aarch64-linux": "linux_arm64", "x86_64-linux": "linux_amd64"}
)

// harness is as much of Homebrew as the formula uses: it prints what the formula is for the
// system and the processor of its arguments, and installs the archive that is in the
// working folder.
const harness = `
require "fileutils"
class Place
  def initialize(dir) = @dir = dir
  def to_s = @dir
  def install(*files)
    FileUtils.mkdir_p(@dir)
    files.flatten.each do |f|
      (f.is_a?(Hash) ? f : { f => File.basename(f) }).each { |from, to| FileUtils.cp(from, File.join(@dir, to)) }
    end
  end
  def install_symlink(links) = links.each { |to, name| FileUtils.ln_s(to, File.join(@dir, name)) }
end
class Formula
  SYSTEM, CPU, ROOT = ARGV[1..3]
  %w[desc homepage version license url sha256].each { |m| define_singleton_method(m) { |v| puts "#{m} #{v}" } }
  %w[macos linux].each { |s| define_singleton_method("on_" + s) { |&b| b.call if s == SYSTEM } }
  %w[arm intel].each { |c| define_singleton_method("on_" + c) { |&b| b.call if c == CPU } }
  def self.test = nil
  { bin: "bin", man1: "share/man/man1", bash_completion: "bash", zsh_completion: "zsh", fish_completion: "fish" }.each do |m, dir|
    define_method(m) { Place.new(File.join(ROOT, dir)) }
  end
end
load ARGV[0]
Procfit.new.install
`

// formula: for each system Homebrew's formula names the archive and its checksum, and what
// it installs runs.
func (r rehearsal) formula(t *testing.T) {
	need.Command(t, "ruby")
	source := t.TempDir()
	r.unpack(t, source, "procfit")
	recipe := filepath.Join(r.dist, "homebrew/Formula/procfit.rb")
	for on, system := range formulaSystems {
		where, processor, _ := strings.Cut(on, " ")
		into := t.TempDir()
		said := r.run(t, source, os.Environ(), "ruby", "-w", "-e", harness, recipe, where, processor, into)
		if strings.Count(said, "sha256 ") != 1 || !strings.Contains(said, "/"+version+"/"+filepath.Base(r.file(system+".tar.gz"))+"\n") {
			t.Errorf("%s: %s", on, said)
		}
		r.named(t, said, system+".tar.gz")
		shows(t, exec.Command(filepath.Join(into, "bin/procfit"), "version"), "procfit "+version+"\n")
		shows(t, exec.Command(filepath.Join(into, "bin/kubectl-procfit"), "sweep", "--help"), "procfit kube sweep")
		used(t, filepath.Join(into, "bin"), filepath.Join(into, "share/man"), filepath.Join(into, "bash/procfit"))
	}
}

// nix: the recipe does the same, as Nix itself reads it, without its collection of packages.
func (r rehearsal) nix(t *testing.T) {
	need.Command(t, "nix-instantiate")
	recipe := filepath.Join(r.dist, "nix/procfit.nix")
	value := func(system, attribute string) string {
		return r.run(t, r.dist, append(os.Environ(), "NIX_STATE_DIR="+t.TempDir(), "NIX_STORE_DIR="+t.TempDir()),
			"nix-instantiate", "--option", "build-users-group", "", "--eval", "--strict", "--json", recipe, "-A", attribute, "--arg", "fetchurl", "a: a",
			"--arg", "stdenvNoCC", `{ hostPlatform.system = "`+system+`"; mkDerivation = a: a; }`)
	}
	for on, system := range nixSystems {
		r.named(t, value(on, "src"), system+".tar.gz")
		if url := value(on, "src.url"); !strings.HasSuffix(strings.TrimSpace(url), "/"+version+"/"+filepath.Base(r.file(system+".tar.gz"))+`"`) {
			t.Errorf("%s: %s", on, url)
		}
	}
	source, out := t.TempDir(), t.TempDir()
	r.unpack(t, source, "procfit")
	phase := ""
	must.OK(t, json.Unmarshal([]byte(value("x86_64-linux", "installPhase")), &phase))
	r.run(t, source, append(os.Environ(), "out="+out), "bash", "-e", "-c", phase)
	shows(t, exec.Command(filepath.Join(out, "bin/procfit"), "version"), "procfit "+version+"\n")
	used(t, filepath.Join(out, "bin"), filepath.Join(out, "share/man"), filepath.Join(out, "share/bash-completion/completions/procfit"))
}
