# Homebrew's formula; .ci/release writes version and checksums into it.
class Procfit < Formula
  desc "Finds the GOMAXPROCS that suits a Go program, by measurement"
  homepage "https://github.com/procfit/procfit"
  version "@version@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/procfit/procfit/releases/download/v@version@/procfit_@version@_darwin_arm64.tar.gz"
      sha256 "@sha256 darwin_arm64@"
    end
    on_intel do
      url "https://github.com/procfit/procfit/releases/download/v@version@/procfit_@version@_darwin_amd64.tar.gz"
      sha256 "@sha256 darwin_amd64@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/procfit/procfit/releases/download/v@version@/procfit_@version@_linux_arm64.tar.gz"
      sha256 "@sha256 linux_arm64@"
    end
    on_intel do
      url "https://github.com/procfit/procfit/releases/download/v@version@/procfit_@version@_linux_amd64.tar.gz"
      sha256 "@sha256 linux_amd64@"
    end
  end

  def install
    bin.install "procfit"
    bin.install_symlink "procfit" => "kubectl-procfit"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/procfit.bash" => "procfit"
    zsh_completion.install "completions/_procfit"
    fish_completion.install "completions/procfit.fish"
  end

  test do
    assert_match "procfit v#{version}", shell_output("#{bin}/procfit version")
  end
end
