//go:build !unix

package check

import "io/fs"

// keepOwner has nothing to do where a file's owner is its folder's matter.
func keepOwner(string, fs.FileInfo) {}

func hasOtherNames(fs.FileInfo) bool { return false }
