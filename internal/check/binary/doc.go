// Package binary is the Checker of Go programs, of archives and images that hold them, and
// of what a go.mod tells of the programs of its module.
//
// # Model
//
// A program tells its Go version, the GODEBUG defaults that the linker wrote into it, and
// the modules in it; package goproc reads that from a file, package archive from tars
// and images without unpacking them. Each program becomes a rule.Subject on no machine,
// one in an image with what the image's config sets. Of an image the program that it
// starts is judged; where that is not known all of them are.
//
// What is found is added to check.Programs, by which manifests that are checked in the
// same run know their Go version.
//
// # Whose program it is
//
// A remedy must be one that the reader can carry out. A program counts as theirs where
// its main module is one whose go.mod lies among the files, or in a folder above the
// program or above the current one; a module above or below such a one counts too. To
// any other the remedy is in its environment.
//
// # Limits
//
//   - A program that was built from files that were named counts as the reader's.
//   - Programs for macOS and Windows are read, but runtimes there follow no CPU limit.
package binary
