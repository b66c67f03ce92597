package archive

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound what an archive may ask for. The defaults are some times what the
// largest images have that people build.
type Limits struct {
	Unpacked  int64 // bytes that all of it may unpack to
	Ratio     int64 // of what it unpacks to to what is read, beyond RatioFrom
	RatioFrom int64 // bytes
	Member    int64 // bytes of a program
	Held      int64 // bytes of one file that are held
	Document  int64 // bytes of a manifest or a config
	Entries   int   // names in all layers together
	Links     int   // bytes of the names of links
	Programs  int
	Faults    int // that are told one by one
}

// DefaultLimits are those for files of a repository.
func DefaultLimits() Limits {
	return Limits{
		Unpacked: 256 << 30, Ratio: 200, RatioFrom: 8 << 30, Member: 4 << 30,
		Held: 192 << 20, Document: 4 << 20, Entries: 4_000_000, Links: 64 << 20, Programs: 10_000, Faults: 20,
	}
}

var (
	errBomb    = errors.New("it unpacks to far more than any archive of programs; reading stopped")
	errEntries = errors.New("it has more entries than any image; reading stopped")
)

// meter counts what is unpacked by all readers of one archive.
type meter struct {
	limits   Limits
	unpacked int64
	entries  int
}

// counted is a stream of which every byte is counted.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// unpacking bounds what comes out of a decompressor by what has gone in.
type unpacking struct {
	out  io.Reader
	in   *counted
	m    *meter
	size int64
}

func (u *unpacking) Read(b []byte) (int, error) {
	n, err := u.out.Read(b)
	u.size += int64(n)
	u.m.unpacked += int64(n)
	if u.m.unpacked > u.m.limits.Unpacked || u.size > u.m.limits.RatioFrom && u.size/u.m.limits.Ratio > u.in.n {
		return 0, errBomb
	}
	return n, err
}

// expanding bounds what a file of an archive gives, which may be sparse: a header of
// 512 bytes then stands for any number of zeros.
type expanding struct {
	r io.Reader
	m *meter
}

func (e expanding) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	e.m.unpacked += int64(n)
	if e.m.unpacked > e.m.limits.Unpacked {
		return 0, errBomb
	}
	return n, err
}

// entry counts a name.
func (m *meter) entry() error {
	if m.entries++; m.entries > m.limits.Entries {
		return errEntries
	}
	return nil
}

// Fault is what is wrong with one file of an archive.
type Fault struct {
	Path string // "" of the archive itself
	Err  error
}

func (f Fault) String() string {
	if f.Path == "" {
		return f.Err.Error()
	}
	return fmt.Sprintf("%s: %v", f.Path, f.Err)
}
