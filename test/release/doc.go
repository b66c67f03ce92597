// Package release holds what a release rests on: that the library's exported API
// changes only together with the section of CHANGELOG.md that tells of it, and that
// both modules can be installed from their tags, in the order of RELEASING.md.
//
// It is a module of its own, for the tools that it needs.
package release
