package image

import (
	"archive/tar"
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
func archive(w io.Writer, images []built, tag string) (digest string, err error) {
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

func layoutOf(images []built, tag string) (files []file, top v1.Hash, err error) {
	files = []file{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)}}
	var descriptors []v1.Descriptor
	for _, img := range images {
		files = append(files, img.files()...)
		descriptors = append(descriptors, v1.Descriptor{MediaType: types.OCIManifestSchema1, Size: int64(len(img.manifest)), Digest: img.digest, Platform: &img.at})
	}
	if len(images) > 1 {
		b, err := json.Marshal(indexOf(descriptors))
		if err != nil {
			return nil, top, err
		}
		h := digestOf(b)
		files, descriptors = append(files, file{blob(h), b}), []v1.Descriptor{{MediaType: types.OCIImageIndex, Size: int64(len(b)), Digest: h}}
	}
	// containerd names an imported image by the first, skopeo and podman by the second.
	descriptors[0].Annotations = map[string]string{"io.containerd.image.name": tag, "org.opencontainers.image.ref.name": tag}
	named := map[string]any{"index.json": indexOf(descriptors)}
	if len(images) == 1 {
		descriptors[0].Platform = nil // its configuration says it
		only := images[0].named
		named["manifest.json"] = []dockerManifest{{Config: blob(only.Config.Digest), RepoTags: []string{tag}, Layers: []string{blob(only.Layers[0].Digest)}}}
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

// files of an image.
func (b built) files() []file {
	return []file{{blob(b.named.Layers[0].Digest), b.layer}, {blob(b.named.Config.Digest), b.config}, {blob(b.digest), b.manifest}}
}

// dockerManifest is an entry of manifest.json, as "docker save" writes it.
type dockerManifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}
