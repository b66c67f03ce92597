// Package image writes a container image of one static program: an archive that can be
// pushed to a registry or imported into a node, made without Docker. The same program, name
// and version give the same bytes, whenever and wherever it is written.
//
// The archive is an OCI image layout (opencontainers/image-spec, image-layout.md) with a
// manifest.json too, which is what older "docker load" and crane read. The one layer of the
// image holds the program alone, so that nothing but the program can be run in it: no shell,
// no C library, no certificates. A program that is linked against a C library is refused,
// since it could not start there.
package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is who the program runs as where a pod says nothing else: offering load
// takes no rights.
const nobody = "65534:65534"

// Image is what an archive is made of.
type Image struct {
	Name    string // reference with a tag, as in registry.example/procfit:v1
	Program []byte
	Path    string // of the program in the image, as in /procfit
	Version string
}

// Made is what an archive holds.
type Made struct {
	Name     string
	Digest   string // of the manifest, as registries and nodes name it
	Platform string // as in linux/amd64
}

// CheckName reports what is wrong with the name of an image.
func CheckName(text string) error {
	_, err := parseName(text)
	return err
}

func parseName(text string) (name.Tag, error) {
	tag, err := name.NewTag(text, name.WithDefaultRegistry(""), name.WithDefaultTag(""))
	switch bare, colon := strings.CutSuffix(text, ":"); {
	case bare != "" && (colon || err == nil && tag.TagStr() == ""): // a node that imports it would look for another name
		err = fmt.Errorf("--tag %q has no tag; write one behind the name, as in --tag %s:v1", text, bare)
	case err != nil:
		err = fmt.Errorf("--tag %q: %w; an image is named as in registry.example/tools/procfit:v1", text, err)
	}
	return tag, err
}

// Write writes the archive. The only time in it is the epoch.
func (i Image) Write(w io.Writer) (Made, error) {
	tag, err := parseName(i.Name)
	if err != nil {
		return Made{}, err
	}
	at, err := platform(bytes.NewReader(i.Program))
	if err != nil {
		return Made{}, err
	}
	layer, diff, err := i.pack()
	if err != nil {
		return Made{}, err
	}
	a := archive{to: tar.NewWriter(w)}
	a.file("oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`))
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Layers: []v1.Descriptor{a.blob(types.OCILayer, layer)}}
	manifest.Config = a.blob(types.OCIConfigJSON, a.json(v1.ConfigFile{
		OS: at.OS, Architecture: at.Architecture, Variant: at.Variant,
		Created: v1.Time{Time: time.Unix(0, 0).UTC()},
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{diff}},
		Config: v1.Config{
			Entrypoint: []string{i.Path}, User: nobody, WorkingDir: "/",
			Labels: map[string]string{"org.opencontainers.image.title": "procfit", "org.opencontainers.image.version": i.Version},
		},
	}))
	top := a.blob(types.OCIManifestSchema1, a.json(manifest))
	// containerd names an imported image by the first, skopeo and podman by the second.
	top.Annotations = map[string]string{"io.containerd.image.name": tag.String(), "org.opencontainers.image.ref.name": tag.String()}
	a.file("index.json", 0o644, a.json(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{top}}))
	a.file("manifest.json", 0o644, a.json([]dockerManifest{{
		Config: blobName(manifest.Config.Digest), RepoTags: []string{tag.String()}, Layers: []string{blobName(manifest.Layers[0].Digest)},
	}}))
	return Made{tag.String(), top.Digest.String(), at.String()}, a.close()
}

// dockerManifest is an entry of manifest.json, as "docker save" writes it.
type dockerManifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// archive is a tar file; what goes wrong first, close reports.
type archive struct {
	to  *tar.Writer
	err error
}

func (a *archive) file(name string, mode int64, data []byte) {
	h := &tar.Header{Name: name, Mode: mode, Size: int64(len(data)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
	if a.err = cmp.Or(a.err, a.to.WriteHeader(h)); a.err == nil {
		_, a.err = a.to.Write(data)
	}
}

// blob is a file of the layout that is named by its digest.
func (a *archive) blob(of types.MediaType, data []byte) v1.Descriptor {
	h := digestOf(data)
	a.file(blobName(h), 0o644, data)
	return v1.Descriptor{MediaType: of, Size: int64(len(data)), Digest: h}
}

func (a *archive) json(v any) []byte {
	b, err := json.Marshal(v)
	a.err = cmp.Or(a.err, err)
	return b
}

func (a *archive) close() error { return cmp.Or(a.err, a.to.Close()) }

func blobName(h v1.Hash) string { return fmt.Sprintf("blobs/%s/%s", h.Algorithm, h.Hex) }

func digestOf(b []byte) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", sha256.Sum256(b))}
}

// pack makes a compressed file system with the program alone, and the digest of what it
// unpacks to.
func (i Image) pack() (layer []byte, diff v1.Hash, err error) {
	var plain, packed bytes.Buffer
	a := archive{to: tar.NewWriter(&plain)}
	a.file(i.Path[1:], 0o755, i.Program)
	err = a.close()
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // which is a level
	_, written := z.Write(plain.Bytes())
	err = errors.Join(err, written, z.Close()) // which writes the end
	return packed.Bytes(), digestOf(plain.Bytes()), err
}

// architectures are those that Linux images have, by the machine of the ELF header.
var architectures = map[elf.Machine]v1.Platform{
	elf.EM_X86_64:  {OS: "linux", Architecture: "amd64"},
	elf.EM_AARCH64: {OS: "linux", Architecture: "arm64"},
	elf.EM_386:     {OS: "linux", Architecture: "386"},
	elf.EM_ARM:     {OS: "linux", Architecture: "arm", Variant: "v7"},
	elf.EM_PPC64:   {OS: "linux", Architecture: "ppc64le"},
	elf.EM_S390:    {OS: "linux", Architecture: "s390x"},
	elf.EM_RISCV:   {OS: "linux", Architecture: "riscv64"},
}

// platform is where a program runs. One that could not start in an image with
// nothing else in it is refused.
func platform(r io.ReaderAt) (v1.Platform, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return v1.Platform{}, errors.New("it is not a Linux program; with --binary, name a program that was built with GOOS=linux CGO_ENABLED=0")
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return v1.Platform{}, fmt.Errorf("it is linked against the C library of this system, which the image does not have: install procfit with CGO_ENABLED=0 go install ./cmd/procfit, or name a program built that way with --binary")
		}
	}
	at, ok := architectures[f.Machine]
	if !ok || at.Architecture == "ppc64le" && f.ByteOrder.String() != "LittleEndian" {
		return v1.Platform{}, fmt.Errorf("it is for %v, which is not an architecture of Linux images", f.Machine)
	}
	return at, nil
}
