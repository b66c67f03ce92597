// Package release holds what a release rests on: that the library's exported API
// changes only together with the section of CHANGELOG.md that tells of it, that both
// modules can be installed from their tags, in the order of RELEASING.md, and that what
// .ci/release makes can be built again, byte for byte, and installed.
//
// It is a module of its own, for the tools that it needs. goreleaser and syft, which make a
// release, are in modules of theirs, outside of the workspace: the versions that they
// require must not become those of procfit.
package release
