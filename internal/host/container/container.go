// Package container finds a container's identity in the names that others make from
// it: cgroups, an API's status, the log files of a node.
//
// # Limits
//
// An identity is 64 hexadecimal digits, as every runtime of Kubernetes makes them. The
// links to logs are the kubelet's, and named "legacy" in its source; every shipper of
// logs lives on them.
package container

import (
	"io/fs"
	"path"
	"strings"
)

// Name is what Kubernetes calls one.
type Name struct{ Namespace, Pod, Container string }

const idLength = 64

// ID finds the identity in the last part of a path: of a cgroup (ID, cri-containerd-ID.scope,
// crio-ID.scope, docker-ID.scope; SLICE:cri-containerd:ID where only the kubelet has systemd's names) or of
// a status (containerd://ID). crun adds a part to a scope, "container". It is empty where there is none.
func ID(name string) string {
	name = strings.TrimSuffix(path.Base(strings.TrimSuffix(name, "/container")), ".scope")
	name = name[strings.LastIndexAny(name, "-:")+1:]
	if len(name) != idLength || strings.Trim(name, "0123456789abcdef") != "" {
		return ""
	}
	return name
}

// Logs reads the links to logs of a node (/var/log/containers): every container's
// name by its identity. The logs themselves are not opened.
func Logs(dir fs.FS) (map[string]Name, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	all := make(map[string]Name, len(entries))
	for _, e := range entries {
		if id, name, ok := parseLog(e.Name()); ok {
			all[id] = name
		}
	}
	return all, nil
}

// parseLog reads the name of a link, POD_NAMESPACE_CONTAINER-ID.log (k8s.io/kubernetes,
// legacyLogSymlink). None of the names can hold an underscore.
func parseLog(file string) (id string, n Name, ok bool) {
	name, isLog := strings.CutSuffix(file, ".log")
	if !isLog || len(name) < idLength+1 {
		return "", n, false
	}
	id = ID(name[len(name)-idLength-1:])
	parts := strings.Split(name[:len(name)-idLength-1], "_")
	if id == "" || name[len(name)-idLength-1] != '-' || len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return "", n, false
	}
	return id, Name{Namespace: parts[1], Pod: parts[0], Container: parts[2]}, true
}
