package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// blob is a file of the layout, named by its digest.
func blob(h v1.Hash) string { return fmt.Sprintf("blobs/%s/%s", h.Algorithm, h.Hex) }

// file is one of the archive's.
type file struct {
	name string
	data []byte
}

// archive writes the layout, in an order that does not change, and returns the digest of
// what has the tag.
func archive(w io.Writer, images []v1.Image, tag string) (digest string, err error) {
	files, top, err := layoutOf(images, tag)
	if err != nil {
		return "", err
	}
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return "", err
		}
		if _, err := t.Write(f.data); err != nil {
			return "", err
		}
	}
	return top.String(), t.Close()
}

func layoutOf(images []v1.Image, tag string) (files []file, top v1.Hash, err error) {
	files = []file{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)}}
	var descriptors []v1.Descriptor
	var docker dockerManifest
	for _, img := range images {
		d, own, blobs, err := blobsOf(img)
		if err != nil {
			return nil, top, err
		}
		docker, files, descriptors = d, append(files, blobs...), append(descriptors, own)
	}
	if len(images) > 1 {
		b, err := json.Marshal(indexOf(descriptors))
		if err != nil {
			return nil, top, err
		}
		h, size, err := v1.SHA256(bytes.NewReader(b))
		if err != nil {
			return nil, top, err
		}
		files, descriptors = append(files, file{blob(h), b}), []v1.Descriptor{{MediaType: types.OCIImageIndex, Size: size, Digest: h}}
	}
	// containerd names an imported image by the first, skopeo and podman by the second.
	descriptors[0].Annotations = map[string]string{"io.containerd.image.name": tag, "org.opencontainers.image.ref.name": tag}
	named := map[string]any{"index.json": indexOf(descriptors)}
	if len(images) == 1 {
		descriptors[0].Platform = nil // its configuration says it
		docker.RepoTags = []string{tag}
		named["manifest.json"] = []dockerManifest{docker}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		b, err := json.Marshal(named[name])
		if err != nil {
			return nil, top, err
		}
		files = append(files, file{name, b})
	}
	return files, descriptors[0].Digest, nil
}

func indexOf(list []v1.Descriptor) v1.IndexManifest {
	return v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: list}
}

// blobsOf is the files of an image, and how an index and docker name it.
func blobsOf(img v1.Image) (docker dockerManifest, own v1.Descriptor, files []file, err error) {
	manifest, err := img.RawManifest()
	if err != nil {
		return docker, own, nil, err
	}
	digest, err := img.Digest()
	if err != nil {
		return docker, own, nil, err
	}
	raw, err := img.RawConfigFile()
	if err != nil {
		return docker, own, nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return docker, own, nil, err
	}
	name, err := img.ConfigName()
	if err != nil {
		return docker, own, nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return docker, own, nil, err
	}
	docker.Config = blob(name)
	for _, l := range layers {
		h, data, err := read(l)
		if err != nil {
			return docker, own, nil, err
		}
		files = append(files, file{blob(h), data})
		docker.Layers = append(docker.Layers, blob(h))
	}
	files = append(files, file{blob(name), raw}, file{blob(digest), manifest})
	own = v1.Descriptor{MediaType: types.OCIManifestSchema1, Size: int64(len(manifest)), Digest: digest, Platform: config.Platform()}
	return docker, own, files, nil
}

// dockerManifest is an entry of manifest.json, as "docker save" writes it.
type dockerManifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func read(l v1.Layer) (v1.Hash, []byte, error) {
	h, err := l.Digest()
	if err != nil {
		return h, nil, err
	}
	r, err := l.Compressed()
	if err != nil {
		return h, nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return h, b, err
}
