package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/procfit/procfit/internal/show/phrase"
)

// ErrNoArchive is of a file that is no tar archive.
var ErrNoArchive = errors.New("is not a tar archive")

// packings are how a stream may be packed, by its first bytes; those without open are not read.
var packings = []packing{
	{"\x1f\x8b\x08", "gzip", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"\x28\xb5\x2f\xfd", "zstd", func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
	{"\xfd7zXZ\x00", "xz", nil},
	{"BZh", "bzip2", nil},
}

type packing struct {
	magic, name string
	open        func(io.Reader) (io.ReadCloser, error)
}

func packingOf(head []byte) *packing {
	for i := range packings {
		if bytes.HasPrefix(head, []byte(packings[i].magic)) {
			return &packings[i]
		}
	}
	return nil
}

// mostWindow is how far back a zstd stream may refer: zstd itself has to be asked for more.
const mostWindow = 128 << 20

// A plain stream is itself, so that what can seek still can.
func (m *meter) unpack(r io.Reader, head []byte) (io.Reader, func(), error) {
	p := packingOf(head)
	if p == nil {
		return r, func() {}, nil
	}
	if p.open == nil {
		return nil, nil, fmt.Errorf("is compressed with %s, which procfit cannot read: use gzip, zstd or no compression", p.name)
	}
	in := &counted{r: r}
	out, err := p.open(in)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return &unpacking{out: out, in: in, m: m, from: p.name}, func() { out.Close() }, nil
}

// Sniff is also of what is compressed, which Unpacks tells more of.
func Sniff(head []byte) bool {
	p := packingOf(head)
	return p != nil && p.open != nil || isTar(head)
}

const tarMagicAt = 257 // POSIX.1-1988, ustar; GNU has the same there

func isTar(head []byte) bool {
	return len(head) > tarMagicAt+5 && string(head[tarMagicAt:tarMagicAt+5]) == "ustar"
}

// Unpacks reports whether what a stream is packed from begins as a tar.
func Unpacks(r io.Reader) bool {
	b := bufio.NewReader(r)
	head, _ := b.Peek(8)
	m := &meter{limits: DefaultLimits()}
	out, done, err := m.unpack(b, head)
	if err != nil {
		return false
	}
	defer done()
	first := make([]byte, 512)
	n, _ := io.ReadFull(out, first)
	return isTar(first[:n])
}

func (m *meter) each(open func() (io.ReadCloser, error), do func(h *tar.Header, r io.Reader) error) error {
	f, err := open()
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	head := make([]byte, 8)
	n, _ := io.ReadFull(f, head)
	if seeker, ok := f.(io.Seeker); ok {
		if _, err := seeker.Seek(0, io.SeekStart); err != nil {
			return err
		}
	} else {
		r = io.MultiReader(bytes.NewReader(head[:n]), f)
	}
	if packingOf(head[:n]) != nil {
		r = bufio.NewReaderSize(r, 1<<20)
	}
	out, done, err := m.unpack(r, head[:n])
	if err != nil {
		return err
	}
	defer done()
	return m.entriesOf(out, do)
}

func (m *meter) entriesOf(r io.Reader, do func(h *tar.Header, r io.Reader) error) error {
	t := tar.NewReader(r)
	for first := true; ; first = false {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, tar.ErrInsecurePath): // told where the name is looked at
		case first && errors.Is(err, tar.ErrHeader):
			return ErrNoArchive
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("it is incomplete: %w", err)
		case err != nil:
			return err
		}
		if m.entries++; m.entries > m.limits.Entries {
			return errEntries
		}
		if err := do(h, t); err != nil {
			return err
		}
	}
}

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
	Looks     int   // at names, to lay layers on one another and to follow links
	Programs  int
	Faults    int // that are reported one by one
}

// DefaultLimits are those for files of a repository.
func DefaultLimits() Limits {
	return Limits{
		Unpacked: 256 << 30, Ratio: 200, RatioFrom: 8 << 30, Member: 4 << 30,
		Held: 192 << 20, Document: 4 << 20, Entries: 4_000_000, Links: 64 << 20, Looks: 16 << 20, Programs: 10_000, Faults: 20,
	}
}

var (
	errBomb    = errors.New("it unpacks to far more than any archive of programs; reading stopped")
	errEntries = errors.New("it has more entries than any image; reading stopped")
)

// meter counts what all readers of one archive unpack, together.
type meter struct {
	limits   Limits
	unpacked int64
	entries  int
}

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
	from string
	size int64
}

func (u *unpacking) Read(b []byte) (int, error) {
	n, err := u.out.Read(b)
	u.size += int64(n)
	u.m.unpacked += int64(n)
	if u.m.unpacked > u.m.limits.Unpacked || u.size > u.m.limits.RatioFrom && u.size/u.m.limits.Ratio > u.in.n {
		return 0, errBomb
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", u.from, err)
	}
	return n, err
}

// expanding bounds a sparse file, whose header of 512 bytes stands for any number of zeros.
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

// Fault is what is wrong with one file of an archive.
type Fault struct {
	Path string // "" of the archive itself
	Err  error
}

func (f Fault) String() string { return phrase.Join(": ", f.Path, f.Err.Error()) }
