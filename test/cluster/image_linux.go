package cluster

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Load makes an image of a static program, which is its entry point and all that is in
// it, and imports it on every node.
func (c *Cluster) Load(ctx context.Context, program, image string) error {
	return c.LoadFiles(ctx, map[string]string{"app": program}, image)
}

// LoadFiles makes an image of programs and libraries of this machine, by their paths in the
// image, and imports it on every node. Its entry point is /app.
func (c *Cluster) LoadFiles(ctx context.Context, files map[string]string, image string) error {
	archive, err := pack(files, image)
	if err != nil {
		return err
	}
	return c.LoadArchive(ctx, archive)
}

// LoadArchive imports an image archive, of docker's or OCI's form, on every node.
func (c *Cluster) LoadArchive(ctx context.Context, archive []byte) error {
	for n := range c.nodes {
		socket := filepath.Join(c.Dir, fmt.Sprintf("node%d", n+1), "containerd.sock")
		for { // containerd may just be starting
			_, err := run(ctx, bytes.NewReader(archive), "ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", "-")
			if err == nil {
				break
			}
			if _, there := os.Stat(socket); there == nil {
				return err
			}
			if paused := c.pause(ctx); paused != nil {
				return fmt.Errorf("%w: %w", paused, err)
			}
		}
	}
	return nil
}

// pack is an image archive in docker's form, with one layer.
func pack(files map[string]string, image string) ([]byte, error) {
	var list []tarFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b, err := os.ReadFile(files[name])
		if err != nil {
			return nil, err
		}
		list = append(list, tarFile{name, 0o755, b})
	}
	var layer, archive bytes.Buffer
	if err := archiveOf(&layer, list); err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Entrypoint": []string{"/app"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))}},
	})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest, err := json.Marshal([]map[string]any{{"Config": name, "RepoTags": []string{image}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return nil, err
	}
	err = archiveOf(&archive, []tarFile{{name, 0o644, config}, {"layer.tar", 0o644, layer.Bytes()}, {"manifest.json", 0o644, manifest}})
	return archive.Bytes(), err
}

type tarFile struct {
	name string
	mode int64
	data []byte
}

func archiveOf(w io.Writer, list []tarFile) error {
	t := tar.NewWriter(w)
	for _, f := range list {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data))}); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}
