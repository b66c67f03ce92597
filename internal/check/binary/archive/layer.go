package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

type layer struct {
	programs  map[string]Program
	symlinks  map[string]string
	hardlinks map[string]string // to files of the layers below
	folders   set
	files     set // whatever is no folder
	gone      set // whiteouts
	opaque    set // folders that hide what is below them

	others set // of the files, those that are not scripts of a shell: programs, and scripts in another language
}

// set holds names by their hashes: a layer may have millions.
type set []uint64

func (s *set) add(hash uint64)     { *s = append(*s, hash) }
func (s set) has(hash uint64) bool { _, found := slices.BinarySearch(s, hash); return found }

func (l *layer) sort() {
	for _, s := range []set{l.folders, l.files, l.gone, l.opaque, l.others} {
		slices.Sort(s)
	}
}

// Markers of OCI layers (image-spec, layer.md).
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

type reader struct {
	ctx    context.Context
	meter  *meter
	seed   maphash.Seed // of the names' hashes, so that nobody can choose two names with the same hash
	faults []Fault
	more   int // faults that are not told
	links  int // bytes of links that are held
	found  int // programs
	looked int // names that were looked at after all were read

	ofLayer, ofFile *bufio.Reader // one after the other: an archive may have millions
}

func (r *reader) fault(name string, err error) {
	if len(r.faults) >= r.meter.limits.Faults {
		r.more++
		return
	}
	r.faults = append(r.faults, Fault{name, err})
}

func (r *reader) newLayer() *layer {
	return &layer{programs: map[string]Program{}, symlinks: map[string]string{}, hardlinks: map[string]string{}}
}

var (
	errLeadsOut = errors.New("a name that leads out of the archive; it is skipped")
	errLongName = errors.New("a name that is too long for any system; it is skipped")
)

// longestName is PATH_MAX of Linux.
const longestName = 4096

// rooted is the name of an entry as it lies in the container: from the root.
func rooted(name string) (string, error) {
	if len(name) > longestName {
		return "", errLongName
	}
	inside := path.Clean(strings.TrimLeft(name, "/"))
	if inside == ".." || strings.HasPrefix(inside, "../") {
		return "", errLeadsOut
	}
	return path.Join("/", inside), nil
}

// What is behind an entry may be kept by see.
func (r *reader) entry(l *layer, h *tar.Header, body io.Reader, see func(name string, head []byte, body io.Reader) error) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	name, err := rooted(h.Name)
	if err != nil {
		r.fault(phrase.Clip(h.Name, 100), err)
		return nil
	}
	dir, base := path.Split(name)
	switch {
	case base == opaque:
		l.opaque.add(r.hash(path.Clean(dir)))
		return nil
	case strings.HasPrefix(base, whiteout):
		l.gone.add(r.hash(dir + strings.TrimPrefix(base, whiteout)))
		return nil
	}
	// Of two entries of one name the last counts.
	delete(l.programs, name)
	delete(l.symlinks, name)
	delete(l.hardlinks, name)
	if h.Typeflag == tar.TypeDir {
		l.folders.add(r.hash(name))
		return nil
	}
	l.files.add(r.hash(name))
	switch h.Typeflag {
	case tar.TypeSymlink, tar.TypeLink:
		return r.link(l, h, name)
	case tar.TypeReg, tar.TypeGNUSparse:
		return r.file(l, name, h.Size, body, see)
	}
	return nil
}

func (r *reader) link(l *layer, h *tar.Header, name string) error {
	if r.links += len(name) + len(h.Linkname); r.links > r.meter.limits.Links {
		return errEntries
	}
	target, err := rooted(h.Linkname)
	if h.Typeflag == tar.TypeSymlink && len(h.Linkname) <= longestName {
		l.symlinks[name] = h.Linkname
		return nil
	}
	if err != nil {
		r.fault(name, fmt.Errorf("a link to %q: %w", phrase.Clip(h.Linkname, 100), err))
		return nil
	}
	if p, ok := l.programs[target]; ok {
		if r.found++; r.found > r.meter.limits.Programs {
			return errEntries
		}
		l.programs[name] = p
	} else {
		l.hardlinks[name] = target
	}
	return nil
}

// buffered uses one buffer for all that are read one after the other.
func buffered(kept **bufio.Reader, from io.Reader, size int) *bufio.Reader {
	if *kept == nil {
		*kept = bufio.NewReaderSize(from, size)
	}
	(*kept).Reset(from)
	return *kept
}

// headBytes are enough to tell whether a file is a program.
const headBytes = 512

func (r *reader) file(l *layer, name string, size int64, body io.Reader, see func(string, []byte, io.Reader) error) error {
	b := buffered(&r.ofFile, expanding{body, r.meter}, 32<<10)
	head, err := b.Peek(int(min(size, headBytes)))
	if err != nil {
		return cut(name, err)
	}
	if see != nil {
		if err := see(name, head, b); err != nil {
			return err
		}
	}
	if Executable(head) || interpreted().Match(head) {
		l.others.add(r.hash(name))
	}
	if !Executable(head) {
		return nil
	}
	if size > r.meter.limits.Member {
		r.fault(name, fmt.Errorf("%w: %d bytes", goproc.ErrTooLarge, size))
		return nil
	}
	p, err := goproc.ReadStream(b, size, r.meter.limits.Held)
	switch {
	case err == nil:
		if r.found++; r.found > r.meter.limits.Programs {
			return errEntries
		}
		l.programs[name] = ProgramOf(p)
	case errors.Is(err, errBomb), errors.Is(err, io.ErrUnexpectedEOF):
		return cut(name, err)
	case errors.Is(err, goproc.ErrTooLarge):
		r.fault(name, err)
	case !errors.Is(err, goproc.ErrNotGo): // of the decompressor, or of the tar
		return cut(name, err)
	case Packed(head):
		r.fault(name, ErrPacked)
	}
	return nil
}

// cut is an error of the archive that shows itself in one file of it.
func cut(name string, err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it ends in %s: %w", name, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("in %s: %w", name, err)
}

// ErrPacked is of a program that UPX has packed.
var ErrPacked = errors.New("is packed by UPX, so nothing can be read from it: unpack it (upx -d) and check it again")

// Packed reports whether UPX has packed the program, which it writes behind the headers.
func Packed(head []byte) bool { return bytes.Contains(head, []byte("UPX!")) }

// magics are of ELF, Mach-O of both sizes and byte orders and of several architectures, PE.
var magics = []string{"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"}

// interpreted is the first line of a script in a language that is not a shell's.
var interpreted = pattern.Of(`^#!.*\b(python|pypy|node|ruby|perl|php|lua|Rscript)`)

// Executable tells by its first bytes whether a file may be a program.
func Executable(head []byte) bool {
	return slices.ContainsFunc(magics, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
}

func (r *reader) hash(name string) uint64 { return maphash.String(r.seed, name) }

// look counts a name that is looked at again, a long one as several, and reports whether that is within
// the bounds: images may share layers, and have one layer many times.
func (r *reader) look(name string) bool {
	r.looked += 1 + len(name)/16
	return r.looked <= r.meter.limits.Looks
}

func (r *reader) hides(l *layer, name string) bool {
	own := r.hash(name)
	if !r.look(name) || l.files.has(own) || l.folders.has(own) || l.gone.has(own) {
		return true
	}
	for at := name; at != "/"; {
		at = path.Dir(at)
		if h := r.hash(at); l.gone.has(h) || l.opaque.has(h) || l.files.has(h) {
			return true
		}
	}
	return false
}
