package archive_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/procfit/procfit/internal/check/binary/archive"
	"github.com/procfit/procfit/internal/check/binary/binarytest"
)

// TestManyFiles holds that a file of an archive costs far less memory than a buffer of its
// own, which made images of many files or layers slow.
func TestManyFiles(t *testing.T) {
	const files = 2000
	var entries [][2]string
	for i := range files {
		entries = append(entries, [2]string{fmt.Sprintf("d/%d", i), "text"})
	}
	b := binarytest.Tar(t, entries...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := archive.Read(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, archive.DefaultLimits())
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / files; err != nil || each > 8<<10 {
		t.Errorf("%d bytes for each file, %v", each, err)
	}
}
