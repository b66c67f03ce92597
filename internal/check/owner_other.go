//go:build !unix

package check

import "io/fs"

func hasOtherNames(fs.FileInfo) bool { return false }
