// Package image makes a container image of one static program: an archive that can
// be pushed to a registry or imported into a node, made without Docker. The same
// program, name and version give the same bytes, whenever and wherever it is made.
//
// The archive is an OCI image layout (opencontainers/image-spec, image-layout.md)
// with a manifest.json beside it, which is what older "docker load" and crane read.
// Its one layer holds the program alone, so that nothing but the program can be run
// in it: no shell, no C library, no certificates. A program that is linked against a
// C library is refused, since it could not start there.
package image
