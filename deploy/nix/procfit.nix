# Nix' recipe, for callPackage; .ci/release writes version and checksums into it.
{ stdenvNoCC, fetchurl }:
let
  version = "@version@";
  archive = {
    x86_64-linux = { name = "linux_amd64"; sha256 = "@sha256 linux_amd64@"; };
    aarch64-linux = { name = "linux_arm64"; sha256 = "@sha256 linux_arm64@"; };
    x86_64-darwin = { name = "darwin_amd64"; sha256 = "@sha256 darwin_amd64@"; };
    aarch64-darwin = { name = "darwin_arm64"; sha256 = "@sha256 darwin_arm64@"; };
  }.${stdenvNoCC.hostPlatform.system};
in
stdenvNoCC.mkDerivation {
  pname = "procfit";
  inherit version;
  src = fetchurl {
    url = "https://github.com/procfit/procfit/releases/download/v${version}/procfit_${version}_${archive.name}.tar.gz";
    inherit (archive) sha256;
  };
  sourceRoot = ".";
  installPhase = ''
    install -D -t $out/bin procfit
    ln -s procfit $out/bin/kubectl-procfit
    install -D -m 644 -t $out/share/man/man1 man/man1/*.1
    install -D -m 644 completions/procfit.bash $out/share/bash-completion/completions/procfit
    install -D -m 644 -t $out/share/zsh/site-functions completions/_procfit
    install -D -m 644 -t $out/share/fish/vendor_completions.d completions/procfit.fish
  '';
  meta = {
    description = "Finds the GOMAXPROCS that suits a Go program, by measurement";
    homepage = "https://github.com/procfit/procfit";
    mainProgram = "procfit";
  };
}
