// Package archive finds Go programs in tar archives, and in images of containers.
//
// # Model
//
// [Read] goes through an archive, compressed or not, as it comes: nothing is unpacked,
// and of a file only what tells of a Go program is held. Where its documents say that it
// is an image, as docker save and OCI layouts have them, the archive is gone through
// again for the layers. Each layer is read by itself, in whatever order they lie there;
// then they are laid on one another in the order of the manifest, with what hides what:
// files of the same name, whiteouts, opaque folders. What is left are the programs that
// a container has.
//
// An archive is never trusted. Everything that it can ask for is bounded by [Limits];
// names that lead out of it are told and left out; what is wrong with one file is a
// [Fault] of that file.
//
// # Limits
//
//   - Programs inside of an archive inside of another are not looked for, but for layers.
//   - Of links only those are followed that an entry point needs.
//   - A program that is packed (UPX) cannot be read, and is a Fault.
package archive
