// Package bytealg stands for internal/bytealg.
package bytealg

import "bytes"

var (
	IndexByte = bytes.IndexByte
	Compare   = bytes.Compare
	Equal     = bytes.Equal
)

func Count(b []byte, c byte) int { return bytes.Count(b, []byte{c}) }
