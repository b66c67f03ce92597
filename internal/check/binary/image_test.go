package binary_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/procfit/procfit/internal/check/binary/binarytest"
	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/must"
)

// realImage is one of three layers: a program that was really built, packed with gzip; a
// newer one over it and a whiteout, packed with zstd; and its config.
func realImage(t *testing.T) v1.Image {
	t.Helper()
	build := func(language string) string {
		return must.Read(t, goproctest.Build{Language: language, Env: []string{"CGO_ENABLED=0"}, Args: []string{"-ldflags=-s -w"}}.Run(t))
	}
	young := build("1.25")
	lower := binarytest.Tar(t, [2]string{"usr/", ""}, [2]string{"usr/bin/", ""}, [2]string{"usr/bin/api", build("1.24")}, [2]string{"usr/bin/helper", young}, [2]string{"bin", "-> usr/bin"})
	upper := binarytest.Tar(t, [2]string{"usr/bin/.wh.helper", ""}, [2]string{"usr/bin/tool", young})
	img := empty.Image
	for _, l := range []struct {
		b       []byte
		options []tarball.LayerOption
	}{
		{lower, nil},
		{upper, []tarball.LayerOption{tarball.WithCompression(compression.ZStd), tarball.WithMediaType(types.OCILayerZStd)}},
	} {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(l.b)), nil }, l.options...)
		must.OK(t, err)
		if img, err = mutate.AppendLayers(img, layer); err != nil {
			t.Fatal(err)
		}
	}
	img = must.Get(mutate.Config(img, v1.Config{Entrypoint: []string{"/bin/api"}, Env: []string{"PATH=/usr/bin", "GODEBUG=gctrace=0"}}))(t)
	return img
}

// TestRealImages reads one image in every form in which images come.
func TestRealImages(t *testing.T) {
	img := realImage(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ref := must.Get(name.NewTag("ghcr.io/acme/api:1.2"))(t)
	must.OK(t, tarball.WriteToFile(file("docker.tar"), ref, img))
	must.Write(t, file("docker.tar.gz"), string(binarytest.Gzip(t, []byte(must.Read(t, file("docker.tar"))))))
	l := must.Get(layout.Write(file("layout"), empty.Index))(t)
	must.OK(t, l.AppendImage(img, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": ref.Name()})))
	tarOf(t, file("layout"), file("oci.tar"))
	for path, shown := range map[string]string{
		"docker.tar": "docker.tar", "docker.tar.gz": "docker.tar.gz", "oci.tar": "oci.tar", "layout": "layout", "layout/oci-layout": "layout",
	} {
		r := run(t, file(path))
		if len(r.Problems) > 0 || len(r.Values) != 2 {
			t.Errorf("%s: %+v", path, r)
			continue
		}
		api, tool := r.Values[0], r.Values[1]
		if api.Path != filepath.ToSlash(file(shown)) || api.Object != "ghcr.io/acme/api:1.2: /usr/bin/api" || api.Module != goproctest.Module || !strings.Contains(api.Source, "containermaxprocs=0 compiled in") {
			t.Errorf("%s: %+v", path, api)
		}
		if tool.Object != "ghcr.io/acme/api:1.2: /usr/bin/tool" || !strings.HasPrefix(tool.Text, "the CPU limit rounded up") {
			t.Errorf("%s: %+v", path, tool)
		}
		if len(r.Findings) != 1 || r.Findings[0].Rule != "PF005" || r.Findings[0].Object != api.Object || !strings.Contains(r.Findings[0].Fix, "GODEBUG") {
			t.Errorf("%s: findings %+v", path, r.Findings)
		}
	}
}

// tarOf packs a folder as tools do that write OCI archives.
func tarOf(t *testing.T, dir, to string) {
	t.Helper()
	f := must.Get(os.Create(to))(t)
	defer f.Close()
	w := tar.NewWriter(f)
	must.OK(t, w.AddFS(os.DirFS(dir)))
	must.OK(t, w.Close())
}

// TestContext: a run that is ended ends.
func TestContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tar")
	must.Write(t, path, string(binarytest.Tar(t, [2]string{"app", string(binarytest.Program{GoVersion: "go1.26.1", Module: "example.com/x"}.Bytes())})))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := runContext(ctx, path); err == nil {
		t.Error("a run that was ended gives a report")
	}
}
