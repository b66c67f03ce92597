package image

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
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

// archive writes the layout, in an order that does not change.
func archive(w io.Writer, img v1.Image, tag string) error {
	files, err := layoutOf(img, tag)
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}

func layoutOf(img v1.Image, tag string) ([]file, error) {
	manifest, err := img.RawManifest()
	if err != nil {
		return nil, err
	}
	digest, err := img.Digest()
	if err != nil {
		return nil, err
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return nil, err
	}
	configName, err := img.ConfigName()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	files := []file{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)}}
	docker := dockerManifest{Config: blob(configName), RepoTags: []string{tag}}
	for _, l := range layers {
		h, data, err := read(l)
		if err != nil {
			return nil, err
		}
		files = append(files, file{blob(h), data})
		docker.Layers = append(docker.Layers, blob(h))
	}
	files = append(files, file{blob(configName), config}, file{blob(digest), manifest})
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{{
		MediaType: types.OCIManifestSchema1, Size: int64(len(manifest)), Digest: digest,
		// containerd names an imported image by the first, skopeo and podman by the second.
		Annotations: map[string]string{"io.containerd.image.name": tag, "org.opencontainers.image.ref.name": tag},
	}}}
	for _, f := range []struct {
		name string
		v    any
	}{{"index.json", index}, {"manifest.json", []dockerManifest{docker}}} {
		b, err := json.Marshal(f.v)
		if err != nil {
			return nil, err
		}
		files = append(files, file{f.name, b})
	}
	return files, nil
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
