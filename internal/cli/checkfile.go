package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
)

// readFile sets what the section check of a procfit.yaml sets and no flag does; in a
// cluster, what the section cluster says of it too.
// The file of a repository names nothing outside of it, and no kubeconfig, which can run commands:
// who runs procfit may not have read it.
func (o *checkOptions) readFile(std stdio) error {
	tree := folder.NewTree(".")
	if _, err := tree.Resolve(specfile.Name); o.file == "" && errors.Is(err, folder.ErrOutside) {
		return usageError("%s is a link out of the folder and its repository; to read it, add --file %[1]s", specfile.Name)
	}
	file, err := openFile(std, o.file)
	if err != nil || file == nil {
		return err
	}
	given, hasPaths := slices.Clone(o.Names), len(o.paths) > 0
	return o.apply(std, file, func(row field.Field) bool {
		switch {
		case row.Group != field.Check && (row.Group != field.Kube || !o.inCluster):
			return true
		case row.Name == pathsField:
			return hasPaths || o.inCluster
		case row.Name == specfile.ExpectedField:
			return false
		}
		has := slices.ContainsFunc(o.fieldFlags.Fields, func(one field.Field) bool { return one.Name == row.Name })
		return !has || slices.Contains(given, row.Name) // kube check has not all
	}, func(name, text string) error {
		if name == pathsField || name == "go" {
			if _, err := tree.Resolve(strings.TrimSuffix(text, "/...")); errors.Is(err, folder.ErrOutside) {
				return fmt.Errorf("%q is outside of the folder and its repository: give it on the command line", text)
			}
		}
		if name == "kubeconfig" && o.file == "" {
			return fmt.Errorf("%q can run commands: give it as --kubeconfig %s, or name this file as --file %s", text, text, specfile.Name)
		}
		switch name {
		case pathsField:
			o.paths = append(o.paths, text)
			return nil
		case specfile.ExpectedField:
			return o.expectedRow().Value.Set(text)
		}
		return o.set(name, text)
	})
}
