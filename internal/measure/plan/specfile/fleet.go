package specfile

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/pattern"
)

// FleetName is the file that procfit fleet reads where none is named.
const FleetName = "fleet.yaml"

const servicesKey = "services"

// The keys of a service next to the sections of its settings; Wrong takes them.
const (
	OfFile       = "file"
	OfManifest   = "manifest"
	objectKey    = "object"
	containerKey = "container"
)

// Fleet is what a fleet.yaml describes: services, each with a name, its settings as a
// procfit.yaml has them, and the manifest that has its value.
//
//	services:
//	  api:
//	    file: services/api/procfit.yaml
//	    manifest: deploy/api.yaml
//	  import:
//	    target: {command: [./bin/import]}
//	    manifest: deploy/import.yaml
//	    container: import
//	stop: {for: 20m} # of all services
type Fleet struct {
	Common   *File // settings of all services, which those of a service override
	Services []Service
}

// Service is one of a fleet.
type Service struct {
	Name     string
	File     string // the procfit.yaml with its settings; empty: there is none
	Settings *File  // those in the fleet.yaml itself, which override those of the file

	Manifest  string // that has its value; empty: it is not known
	Object    string // in the manifest, as in Deployment/api; empty: that of its settings, or the only one
	Container string // of the object, in the same way

	path string
	at   map[string]*yaml.Node // its keys; "" is its name
}

// Wrong is an error about a key of the service, or with "" about all of it, at its place.
func (s *Service) Wrong(key string, err error) error {
	at, name := s.at[key], servicesKey+"."+s.Name
	if _, own := errors.AsType[*Error](err); own { // it has a place of its own
		return err
	}
	if at == nil {
		at = s.at[""]
	} else if key != "" {
		name += "." + key
	}
	return &Error{s.path, at.Line, at.Column, name + ": " + err.Error()}
}

// serviceName is what is good as a folder, and in the message of a commit.
var serviceName = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// ReadFleet reads a fleet.yaml whose settings may have these rows.
func ReadFleet(path string, b []byte, rows []field.Field) (*Fleet, error) {
	r := reader{path: path, rows: rows, name: FleetName, of: "fleet"}
	root, err := r.document(b)
	if err != nil {
		return nil, err
	}
	none := &Error{Path: path, Reason: "it has no services; write services:, and below it a name with its settings, as in api: {file: services/api/procfit.yaml}"}
	if root == nil {
		return nil, none
	}
	sections, err := r.pairs(root, "the file")
	if err != nil {
		return nil, err
	}
	f := &Fleet{}
	i := slices.IndexFunc(sections, func(p pair) bool { return p.key == servicesKey })
	if i >= 0 && !isNull(sections[i].value) {
		if f.Services, err = r.services(sections[i].value); err != nil {
			return nil, err
		}
	}
	if i >= 0 {
		sections = slices.Delete(sections, i, i+1)
	}
	if f.Common, err = r.file(sections, servicesKey); err != nil {
		return nil, err
	}
	if len(f.Services) == 0 {
		return nil, none
	}
	return f, nil
}

func (r *reader) services(n *yaml.Node) (list []Service, err error) {
	named, err := r.pairs(n, servicesKey)
	if err != nil {
		return nil, err
	}
	for _, p := range named {
		if !serviceName().MatchString(p.key) {
			return nil, r.wrong(p.at, "%s: %.60q is not a name for a folder of results: use letters, digits, - and _, and begin with a letter or a digit", servicesKey, p.key)
		}
		s, err := r.service(p)
		if err != nil {
			return nil, err
		}
		list = append(list, *s)
	}
	return list, nil
}

// service reads one. Whether what it names is there is not known here.
func (r *reader) service(p pair) (*Service, error) {
	s := &Service{Name: p.key, path: r.path, at: map[string]*yaml.Node{"": p.at}}
	of := servicesKey + "." + p.key
	if isNull(p.value) {
		return nil, r.wrong(p.at, "%s has no settings: write file: FILE, or target: with a command, or cluster: with an object", of)
	}
	keys, err := r.pairs(p.value, of)
	if err != nil {
		return nil, err
	}
	texts := map[string]*string{OfFile: &s.File, OfManifest: &s.Manifest, objectKey: &s.Object, containerKey: &s.Container}
	known := []string{OfFile, OfManifest, objectKey, containerKey}
	var sections []pair
	for _, k := range keys {
		to, own := texts[k.key]
		if !own {
			sections = append(sections, k)
			continue
		}
		v, err := r.followed(k.value)
		if err != nil {
			return nil, err
		}
		if v.Kind != yaml.ScalarNode || isNull(v) || strings.TrimSpace(v.Value) == "" {
			return nil, r.wrong(k.value, "%s.%s: expected one word", of, k.key)
		}
		*to, s.at[k.key] = v.Value, k.value
	}
	for _, key := range []string{objectKey, containerKey} {
		if s.at[key] != nil && s.Manifest == "" {
			return nil, r.wrong(s.at[key], "%s.%s has no effect without %s", of, key, OfManifest)
		}
	}
	if s.Settings, err = r.file(sections, known...); err != nil {
		return nil, err
	}
	if s.File == "" && len(s.Settings.items) == 0 {
		return nil, r.wrong(p.at, "%s has no settings: write file: FILE, or target: with a command, or cluster: with an object", of)
	}
	return s, nil
}
