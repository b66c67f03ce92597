package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check/binary/binarytest"
	"github.com/procfit/procfit/test/must"
)

var errNone = errors.New("")

// TestHostile reads what no tool writes: an error, and what could be read until then.
func TestHostile(t *testing.T) {
	good := binarytest.Tar(t, [2]string{"app", old}, [2]string{"text", strings.Repeat("x", 4000)})
	small := DefaultLimits()
	small.RatioFrom, small.Ratio, small.Entries, small.Member, small.Programs, small.Faults = 1<<20, 50, 5, 1<<20, 2, 3
	few := DefaultLimits()
	few.Looks, few.Programs = 5000, 50
	var links [][2]string
	for i := range 60 {
		links = append(links, [2]string{fmt.Sprint(i), "=> app"})
	}
	zeros := make([]byte, 8<<20)
	big := binarytest.Tar(t, [2]string{"app", old}, [2]string{"zeros", string(zeros)})
	many := [][2]string{}
	for i := range 6 {
		many = append(many, [2]string{fmt.Sprint(i), "x"})
	}
	for name, tc := range map[string]struct {
		b        []byte
		limits   Limits
		err      string
		fault    string
		programs string
	}{
		"truncated":         {good[:len(good)-4096], DefaultLimits(), "it is incomplete", "", "/app go1.24.6"},
		"truncated gzip":    {binarytest.Gzip(t, good)[:200], DefaultLimits(), "unexpected EOF", "", ""},
		"damaged zstd":      {append(zstdOf(t, good)[:100], "garbage of no sense"...), DefaultLimits(), "", "", "?"},
		"no archive":        {[]byte(strings.Repeat("words ", 200)), DefaultLimits(), "is not a tar archive", "", ""},
		"gzip of words":     {binarytest.Gzip(t, []byte(strings.Repeat("words ", 200))), DefaultLimits(), "is not a tar archive", "", ""},
		"xz":                {[]byte("\xfd7zXZ\x00rest"), DefaultLimits(), "use gzip, zstd or no compression", "", ""},
		"a bomb":            {binarytest.Gzip(t, big), small, "unpacks to far more", "", "/app go1.24.6"},
		"a bomb of zstd":    {zstdOf(t, big), small, "unpacks to far more", "", "/app go1.24.6"},
		"many files":        {binarytest.Tar(t, many...), small, "more entries than any image", "", ""},
		"many programs":     {binarytest.Tar(t, [2]string{"a", old}, [2]string{"b", old}, [2]string{"c", old}), small, "more entries than any image", "", "/a go1.24.6, /b go1.24.6"},
		"a name above":      {binarytest.Tar(t, [2]string{"../app", old}, [2]string{"a/../app", young}, [2]string{"a/../../b", old}), DefaultLimits(), "", "../app: a name that leads out of the archive; it is skipped\na/../../b: a name that leads", "/app go1.26.1"},
		"a link above":      {binarytest.Tar(t, [2]string{"app", "=> ../../etc/passwd"}), DefaultLimits(), "", `/app: a link to "../../etc/passwd": a name that leads out`, ""},
		"a long link":       {binarytest.Tar(t, [2]string{"l", "-> " + strings.Repeat("x/", 3000)}, [2]string{"app", old}), DefaultLimits(), "", "a name that is too long for any system", "/app go1.24.6"},
		"many names of one": {binarytest.Tar(t, append([][2]string{{"app", old}}, links...)...), few, "", "", "?"},
		"names in layers":   {binarytest.Image(t, "acme/api:1", "{}", binarytest.Tar(t, [2]string{"app", old}), binarytest.Tar(t, links...)), few, "", "it has more entries than any image", ""},
		"a layer again":     {binarytest.Tar(t, [2]string{"c.json", "{}"}, [2]string{"l", string(good)}, [2]string{"manifest.json", `[{"Config":"c.json","Layers":["l"` + strings.Repeat(`,"l"`, 2000) + `]}]`}), few, "", "it has more entries than any image", ""},
		"a long name":       {binarytest.Tar(t, [2]string{strings.Repeat("x", 5000), old}, [2]string{"app", old}), DefaultLimits(), "", "x…: a name that is too long for any system", "/app go1.24.6"},
		"a large program":   {binarytest.Tar(t, [2]string{"big", old + string(zeros)}, [2]string{"app", old}), small, "", "/big: too large to be read: 83", "/app go1.24.6"},
		"UPX":               {binarytest.Tar(t, [2]string{"packed", "\x7fELF" + strings.Repeat("\x00", 200) + "UPX!"}, [2]string{"app", old}), DefaultLimits(), "", "/packed: is packed by UPX", "/app go1.24.6"},
		"no Go":             {binarytest.Tar(t, [2]string{"lib.so", "\x7fELF" + strings.Repeat("\xff", 2000)}, [2]string{"x.exe", "MZ"}), DefaultLimits(), "", "", ""},
		"many faults":       {binarytest.Tar(t, [2]string{"../a", ""}, [2]string{"../b", ""}, [2]string{"../c", ""}, [2]string{"../d", ""}), small, "", "../a: ", ""},
		"a lying size":      {lying(t), DefaultLimits(), "it ends in /huge: unexpected EOF", "", "/app go1.24.6"},
		"a sparse file":     {sparse(1 << 40), DefaultLimits(), "", "/sparse: too large to be read: 1099511627776 bytes", ""},
		"a sparse program":  {sparse(64 << 20), Limits{Unpacked: 32 << 20, Held: 1 << 20, Member: 1 << 40, Entries: 10, Faults: 3}, "unpacks to far more", "", ""},
		"a Windows program": {binarytest.Tar(t, [2]string{"x.exe", "MZ" + strings.Repeat("\x00", 900)}), Limits{Held: 600, Unpacked: 1 << 20, Entries: 10, Faults: 3, Member: 1 << 20, Links: 1}, "", "at most 600 are held", ""},
	} {
		c, err := read(t, tc.b, tc.limits)
		if err == nil {
			err = errNone
		}
		if tc.programs == "?" { // how far it comes is the decompressor's matter
			if err == errNone {
				t.Errorf("%s: no error", name)
			}
			continue
		}
		if !strings.Contains(err.Error(), tc.err) || (tc.err == "") != (err == errNone) || !strings.Contains(faults(c), tc.fault) || (tc.fault == "") != (len(c.Faults) == 0) || shown(c.Programs) != tc.programs {
			t.Errorf("%s: %v; faults %q; programs %q", name, err, faults(c), shown(c.Programs))
		}
		if len(c.Faults) > tc.limits.Faults || name == "many faults" && c.More != 1 {
			t.Errorf("%s: %d faults and %d more", name, len(c.Faults), c.More)
		}
	}
}

// lying is a tar whose last header claims more than there is.
func lying(t *testing.T) []byte {
	var b bytes.Buffer
	b.Write(binarytest.Tar(t, [2]string{"app", old}))
	b.Truncate(b.Len() - 1024) // the end of the archive
	must.OK(t, tar.NewWriter(&b).WriteHeader(&tar.Header{Name: "huge", Typeflag: tar.TypeReg, Size: 1 << 50}))
	b.WriteString("\x7fELF and no more")
	return b.Bytes()
}

// sparse is a tar of GNU's old kind with one file: the headers of an ELF whose only
// segment is its last page, and zeros, of which there are none in the archive.
func sparse(size int64) []byte {
	b := make([]byte, 1024)
	copy(b, "sparse")
	copy(b[100:], "0000755\x000000000\x000000000\x0000000001000\x0000000000000\x00        S")
	copy(b[257:], "ustar  \x00")
	copy(b[386:], "00000000000\x0000000001000\x00") // data: 512 bytes at 0
	number := func(at int, n int64) {               // a large one is written in bytes
		b[at] = 0x80
		for i := 11; i > 3; i-- {
			b[at+i] = byte(n)
			n >>= 8
		}
	}
	number(410, size) // an empty piece at the end
	copy(b[422:], "00000000000\x00")
	number(483, size)
	page := []byte(old)[:128]
	for i := range 8 {
		page[64+8+i] = byte((size - 4096) >> (8 * i)) // p_offset
	}
	copy(b[512:], page)
	for _, at := range []int{64 + 32, 64 + 40} { // p_filesz, p_memsz
		clear(b[512+at : 512+at+8])
		b[512+at+1] = 4096 >> 8
	}
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(b, make([]byte, 1024)...)
}

// TestHostileImages reads images whose documents are wrong: what is there is found.
func TestHostileImages(t *testing.T) {
	layer, other := string(binarytest.Tar(t, [2]string{"app", old})), string(binarytest.Tar(t, [2]string{"other", old}))
	const hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	index := func(digest string) string {
		return `{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.index.v1+json","digest":"sha256:` + digest + `"}]}`
	}
	type entries = [][2]string
	for name, tc := range map[string]struct {
		entries
		fault  string
		images int
	}{
		"a missing layer":     {entries{{"c.json", "{}"}, {"a.tar", layer}, {"manifest.json", `[{"Config":"c.json","Layers":["a.tar","b.tar"]}]`}}, "/b.tar: a layer of the image that is missing in the archive", 1},
		"a linked layer":      {entries{{"c.json", "{}"}, {"x/a.tar", layer}, {"y/a.tar", "-> ../x/a.tar"}, {"manifest.json", `[{"Config":"c.json","Layers":["y/a.tar"]}]`}}, "", 1},
		"a layer of words":    {entries{{"c.json", "{}"}, {"a.tar", layer}, {"b.tar", strings.Repeat("words", 300)}, {"manifest.json", `[{"Config":"c.json","Layers":["a.tar","b.tar"]}]`}}, "/b.tar: a layer that cannot be read: is not a tar archive", 1},
		"a truncated layer":   {entries{{"c.json", "{}"}, {"a.tar", layer}, {"b.tar", other[:700]}, {"manifest.json", `[{"Config":"c.json","Layers":["a.tar","b.tar"]}]`}}, "/b.tar: a layer that cannot be read:", 1},
		"no config":           {entries{{"a.tar", layer}, {"manifest.json", `[{"Config":"c.json","Layers":["a.tar"]}]`}}, "/c.json: the config of an image: file does not exist", 1},
		"a config of words":   {entries{{"c.json", "{]"}, {"a.tar", layer}, {"manifest.json", `[{"Config":"c.json","Layers":["a.tar"]}]`}}, "/c.json: the config of an image: invalid", 1},
		"a long PATH":         {entries{{"c.json", `{"config":{"Env":["PATH=` + strings.Repeat(":", 2_000_000) + `"],"Cmd":["` + strings.Repeat("/a", 750_000) + `","b"]}}`}, {"a.tar", layer}, {"manifest.json", `[{"Config":"c.json","Layers":["a.tar"]}]`}}, "", 1},
		"a shared config":     {entries{{"c.json", "{" + strings.Repeat(" ", 3<<20) + "}"}, {"a.tar", layer}, {"manifest.json", "[" + strings.Repeat(`{"Config":"c.json","Layers":["a.tar"]},`, 29) + `{"Config":"c.json","Layers":["a.tar"]}]`}}, "/c.json: the config of an image: the documents of its images have more than 67108864 bytes", 30},
		"layers above":        {entries{{"c.json", "{}"}, {"a.tar", layer}, {"manifest.json", `[{"Config":"c.json","Layers":["a.tar","../../etc/passwd"]}]`}}, "/etc/passwd: a layer of the image that is missing in the archive", 1},
		"an endless index":    {entries{{"oci-layout", `{}`}, {"index.json", index(hex)}, {"blobs/sha256/" + hex, index(hex)}}, "its indexes are nested too deeply", 0},
		"an index of nothing": {entries{{"oci-layout", `{}`}, {"index.json", index(hex)}}, "/blobs/sha256/" + hex + ": the manifest of an image: ", 0},
		"an index of words":   {entries{{"oci-layout", `{}`}, {"index.json", `{"manifests":7}`}}, "/index.json: is not an index of images", 0},
		"a digest above":      {entries{{"oci-layout", `{}`}, {"index.json", index("../../x")}}, "/index.json: is not an index of images", 0},
	} {
		c, err := read(t, binarytest.Tar(t, tc.entries...), DefaultLimits())
		if err != nil || len(c.Images) != tc.images || !strings.Contains(faults(c), tc.fault) || (tc.fault == "") != (len(c.Faults) == 0) {
			t.Errorf("%s: %v; %d images, faults %q", name, err, len(c.Images), faults(c))
		}
		for _, i := range c.Images {
			if shown(i.Programs) != "/app go1.24.6" || i.Main != 0 {
				t.Errorf("%s: %+v", name, i)
			}
		}
	}
	// A manifest.json that is another program's does not make an archive an image.
	c, err := read(t, binarytest.Tar(t, [2]string{"manifest.json", `{"name":"web"}`}, [2]string{"app", old}), DefaultLimits())
	if err != nil || shown(c.Programs) != "/app go1.24.6" || len(c.Images) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestLayoutFolder reads a layout that is a folder; what is no file there is none.
func TestLayoutFolder(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(dir, "blobs/sha256"), 0o755))
	for _, name := range []string{"oci-layout", "index.json"} {
		must.Write(t, filepath.Join(dir, name), "{}")
	}
	if c, err := ReadLayout(context.Background(), os.DirFS(dir), DefaultLimits()); err != nil || len(c.Images) > 0 || len(c.Faults) > 0 {
		t.Errorf("empty: %+v, %v", c, err)
	}
	must.OK(t, os.Remove(filepath.Join(dir, "index.json")))
	must.OK(t, os.Mkdir(filepath.Join(dir, "index.json"), 0o755))
	if c, err := ReadLayout(context.Background(), os.DirFS(dir), DefaultLimits()); err != nil || !strings.Contains(faults(c), "is not a file") {
		t.Errorf("a folder for a file: %+v, %v", c, err)
	}
}

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
	_, err := read(t, b, DefaultLimits())
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / files; err != nil || each > 8<<10 {
		t.Errorf("%d bytes for each file, %v", each, err)
	}
}

// FuzzRead gives hostile archives: an end, and no more than is allowed.
func FuzzRead(f *testing.F) {
	layer := binarytest.Tar(f, [2]string{"bin/app", old}, [2]string{"a", "-> b"}, [2]string{"c", "=> bin/app"}, [2]string{".wh.x", ""})
	f.Add(layer)
	f.Add(binarytest.Gzip(f, layer))
	f.Add(zstdOf(f, layer))
	f.Add(binarytest.Image(f, "acme/api:1", `{"config":{"Entrypoint":["/bin/app"]}}`, layer, binarytest.Gzip(f, layer)))
	f.Add(sparse(1 << 40))
	f.Add(sparse(1 << 20))
	limits := Limits{Unpacked: 4 << 20, Ratio: 100, RatioFrom: 1 << 20, Member: 1 << 20, Held: 1 << 20, Document: 1 << 16, Entries: 1000, Links: 1 << 16, Looks: 1 << 20, Programs: 20, Faults: 5}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(context.Background(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, limits)
		if err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
		for _, p := range c.Programs {
			if !strings.HasPrefix(p.Path, "/") || strings.Contains(p.Path, "/../") {
				t.Errorf("%+v", p)
			}
		}
		if len(c.Faults) > limits.Faults || len(c.Programs) > limits.Programs {
			t.Errorf("%d faults, %d programs", len(c.Faults), len(c.Programs))
		}
	})
}

// FuzzDocuments gives hostile documents.
func FuzzDocuments(f *testing.F) {
	f.Add(`[{"Config":"c.json","RepoTags":["a:1"],"Layers":["a.tar"]}]`, `{"config":{"Env":["A=B"]}}`, "")
	f.Add("", `{"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar"}]}`, `{"manifests":[{"digest":"sha256:00"}]}`)
	f.Fuzz(func(t *testing.T, manifest, other, index string) {
		r := &reader{ctx: context.Background(), meter: &meter{limits: DefaultLimits()}}
		plans := r.plans(func(name string) ([]byte, error) {
			switch name {
			case "/manifest.json":
				return []byte(manifest), nil
			case "/index.json":
				return []byte(index), nil
			}
			return []byte(other), nil
		})
		if len(plans) > mostImages || len(r.faults) > r.meter.limits.Faults {
			t.Errorf("%d plans, %d faults", len(plans), len(r.faults))
		}
	})
}
