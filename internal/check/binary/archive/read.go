// Package archive finds Go programs in tar archives, and in images of containers.
//
// # Model
//
// [Read] goes through an archive as it comes: nothing is unpacked, and of a file only what tells of
// a Go program is held. If its documents say that it is an image, as docker save and OCI layouts
// have them, it goes through the archive again for the layers, reads each by itself, and lays them
// on one another in the order of the manifest, with what hides what: files of the same name,
// whiteouts, opaque folders.
//
// An archive is never trusted. All that it can ask for is bounded by [Limits]; names that lead out
// of it are reported and skipped; what is wrong with one file is a [Fault] of that file.
//
// # Limits
//
//   - Programs in an archive in another are not looked for, but for layers.
//   - Of links only those are followed that an entry point needs.
//   - A program that UPX has packed cannot be read, and is a Fault.
package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
)

// Content is what was found in an archive.
type Content struct {
	Programs []Program // of one that is no image
	Images   []Image
	Faults   []Fault
	More     int // faults beyond those that are reported
}

// Read goes through a tar archive, which open opens each time. The error is ErrNoArchive, or what
// ends the reading; what was found until then is in the Content.
func Read(ctx context.Context, open func() (io.ReadCloser, error), limits Limits) (Content, error) {
	r := &reader{ctx: ctx, meter: &meter{limits: limits}, seed: maphash.MakeSeed()}
	docs := &documents{texts: map[string][]byte{}}
	outer := r.newLayer()
	err := r.meter.each(open, func(h *tar.Header, body io.Reader) error {
		return r.entry(outer, h, body, func(name string, head []byte, body io.Reader) error {
			return docs.keep(name, head, h.Size, body, limits.Document)
		})
	})
	outer.sort()
	if errors.Is(err, ErrNoArchive) || !docs.image() {
		return Content{Programs: r.lay([]*layer{outer}).list(), Faults: r.faults, More: r.more}, err
	}
	plans := r.plans(docs.read)
	layers := map[string]*layer{}
	if err == nil {
		wanted := map[string]bool{}
		for _, p := range plans {
			for _, name := range p.layers {
				wanted[r.real(outer, name)] = true
			}
		}
		err = r.meter.each(open, func(h *tar.Header, body io.Reader) error {
			name, errName := rooted(h.Name)
			if errName != nil || !wanted[name] || layers[name] != nil || h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeGNUSparse {
				return ctx.Err()
			}
			layers[name] = r.layer(name, body)
			return ctx.Err()
		})
	}
	return r.content(plans, func(name string) *layer { return layers[r.real(outer, name)] }), err
}

// In old archives a layer that several images have is a link.
func (r *reader) real(outer *layer, name string) string {
	return view{symlinks: outer.symlinks, reader: r}.resolve(name)
}

// ReadLayout reads an OCI layout that lies in a folder.
func ReadLayout(ctx context.Context, dir fs.FS, limits Limits) (Content, error) {
	r := &reader{ctx: ctx, meter: &meter{limits: limits}, seed: maphash.MakeSeed()}
	plans := r.plans(func(name string) ([]byte, error) {
		f, err := openRegular(dir, name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readDocument(f, limits.Document)
	})
	layers := map[string]*layer{}
	for _, p := range plans {
		for _, name := range p.layers {
			if layers[name] != nil {
				continue
			}
			f, err := openRegular(dir, name)
			if err != nil {
				continue // content tells that it is not there
			}
			layers[name] = r.layer(name, f)
			f.Close()
			if err := ctx.Err(); err != nil {
				return Content{}, err
			}
		}
	}
	return r.content(plans, func(name string) *layer { return layers[name] }), nil
}

// openRegular opens a file of the layout: a pipe would never open.
func openRegular(dir fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(dir, name[1:])
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		return nil, err
	}
	return dir.Open(name[1:])
}

// layer reads one. What is wrong with it is its Fault, and what was read of it counts.
func (r *reader) layer(name string, body io.Reader) *layer {
	l := r.newLayer()
	b := buffered(&r.ofLayer, expanding{body, r.meter}, 256<<10)
	head, _ := b.Peek(8)
	out, done, err := r.meter.unpack(b, head)
	if err == nil {
		err = r.meter.entriesOf(out, func(h *tar.Header, body io.Reader) error { return r.entry(l, h, body, nil) })
		done()
	}
	if err != nil && r.ctx.Err() == nil {
		r.fault(name, fmt.Errorf("a layer that cannot be read: %w", err))
	}
	l.sort()
	return l
}

func (r *reader) content(plans []plan, layerOf func(string) *layer) (c Content) {
	for _, p := range plans {
		var stack []*layer
		for _, name := range p.layers {
			l := layerOf(name)
			if l == nil {
				r.fault(name, errors.New("a layer of the image that is missing in the archive"))
				continue
			}
			stack = append(stack, l)
		}
		v := r.lay(stack)
		p.image.Programs = v.list()
		p.image.Main, p.image.Script = -1, v.script(p.image, p.dir)
		p.image.Main = v.main(p.image, p.dir)
		if !r.look("") || len(v.programs) > r.meter.limits.Programs {
			r.fault("", errEntries)
			break
		}
		c.Images = append(c.Images, p.image)
	}
	c.Faults, c.More = r.faults, r.more
	return c
}

type documents struct {
	texts map[string][]byte
	bytes int64
}

// Bounds of what is held of one archive.
const (
	mostDocuments     = 4096
	mostDocumentBytes = 64 << 20
)

// keep holds what may be a manifest or a config: JSON at the root, or a blob.
func (d *documents) keep(name string, head []byte, size int64, body io.Reader, most int64) error {
	if size > most || len(d.texts) >= mostDocuments || d.bytes+size > mostDocumentBytes {
		return nil
	}
	if dir := path.Dir(name); dir != "/" && path.Dir(dir) != "/blobs" && path.Ext(name) != ".json" {
		return nil
	}
	if first := bytes.TrimLeft(head, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return nil
	}
	b, err := readDocument(body, most)
	if err != nil {
		return cut(name, err)
	}
	d.texts[name] = b
	d.bytes += size
	return nil
}

func readDocument(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("has more than %d bytes, which is too much for a manifest or config", most)
	}
	return b, err
}

func (d *documents) read(name string) ([]byte, error) {
	if b, ok := d.texts[name]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

// image reports whether the archive is one. A manifest.json alone may be anybody's.
func (d *documents) image() bool {
	_, layout := d.texts["/oci-layout"]
	_, index := d.texts["/index.json"]
	return layout && index || dockerImages(d.texts["/manifest.json"]) != nil
}
