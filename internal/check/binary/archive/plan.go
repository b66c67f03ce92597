package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

type plan struct {
	image  Image
	dir    string   // in which its command is started
	layers []string // from the lowest
}

type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// dockerImages are those of a manifest.json; nil: it is somebody else's.
func dockerImages(b []byte) (all []dockerImage) {
	if json.Unmarshal(b, &all) != nil || len(all) == 0 || all[0].Config == "" {
		return nil
	}
	return all
}

// Names that the OCI, and containerd with the whole name, give to an image in an index.
const (
	refName        = "org.opencontainers.image.ref.name"
	containerdName = "io.containerd.image.name"
)

const (
	mostImages = 256
	deepest    = 4 // indexes in indexes
)

type planner struct {
	*reader
	read   func(name string) ([]byte, error)
	all    []plan
	visits int // entries of indexes
}

// Newer dockers write both kinds of documents; manifest.json has the whole names.
func (r *reader) plans(read func(name string) ([]byte, error)) []plan {
	p := &planner{reader: r, read: read}
	b, err := read("/manifest.json")
	if images := dockerImages(b); err == nil && images != nil {
		p.docker(images)
		return p.all
	}
	b, err = read("/index.json")
	if err != nil {
		r.fault("/index.json", err)
		return nil
	}
	p.index("/index.json", b, nil, 0)
	return p.all
}

func (r *planner) docker(images []dockerImage) {
	for _, i := range images[:min(len(images), mostImages)] {
		p := plan{image: Image{Names: i.RepoTags}}
		for _, l := range i.Layers {
			p.layers = append(p.layers, path.Clean("/"+l))
		}
		r.config(&p, path.Clean("/"+i.Config))
		r.all = append(r.all, p)
	}
}

func (r *planner) config(p *plan, name string) {
	b, err := r.read(name)
	if err != nil {
		r.fault(name, fmt.Errorf("the config of an image: %w", err))
		return
	}
	c, err := v1.ParseConfigFile(bytes.NewReader(b))
	if err != nil {
		r.fault(name, fmt.Errorf("the config of an image: %w", err))
		return
	}
	p.dir = c.Config.WorkingDir
	p.image.Env = c.Config.Env
	p.image.Command = append(slices.Clone(c.Config.Entrypoint), c.Config.Cmd...)
	if c.OS != "" {
		p.image.Platform = c.OS + "/" + c.Architecture
	}
}

func (r *planner) index(at string, b []byte, names []string, depth int) {
	idx, err := v1.ParseIndexManifest(bytes.NewReader(b))
	if depth > deepest {
		err = errors.New("its indexes are nested too deeply")
	}
	if err != nil {
		r.fault(at, fmt.Errorf("is not an index of images: %w", err))
		return
	}
	for _, m := range idx.Manifests {
		if r.visits++; len(r.all) >= mostImages || r.visits > mostDocuments {
			r.fault(at, fmt.Errorf("has more than %d images; the others are skipped", mostImages))
			return
		}
		if m.Platform != nil && m.Platform.OS == "unknown" { // an attestation
			continue
		}
		names := names
		if name := cmp.Or(m.Annotations[containerdName], m.Annotations[refName]); name != "" {
			names = []string{name}
		}
		file := blob(m.Digest)
		text, err := r.read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && m.Platform != nil:
			continue // an index of several platforms, where one was saved
		case err != nil:
			r.fault(file, fmt.Errorf("the manifest of an image: %w", err))
		case m.MediaType.IsIndex():
			r.index(file, text, names, depth+1)
		default:
			r.manifest(file, text, names)
		}
	}
}

func (r *planner) manifest(at string, b []byte, names []string) {
	m, err := v1.ParseManifest(bytes.NewReader(b))
	if err != nil {
		r.fault(at, fmt.Errorf("the manifest of an image: %w", err))
		return
	}
	p := plan{image: Image{Names: names}}
	for _, l := range m.Layers {
		if l.MediaType.IsLayer() {
			p.layers = append(p.layers, blob(l.Digest))
		}
	}
	if len(p.layers) == 0 {
		return // a signature, a chart, or another artifact that is no image
	}
	r.config(&p, blob(m.Config.Digest))
	r.all = append(r.all, p)
}

func blob(d v1.Hash) string { return path.Clean("/blobs/" + d.Algorithm + "/" + d.Hex) }
