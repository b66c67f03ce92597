package manifest

import (
	"path"
	"sync"
)

// store holds what all files say until the last is read: containers, and what they
// draw from.
type store struct {
	mu         sync.Mutex
	containers []*container
	configs    map[string][]config // by name
	ranges     []limitRange
}

type config struct {
	object
	data map[string]string
}

type limitRange struct {
	object
	limit, request quantity
}

func (s *store) container(k *container) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.containers = append(s.containers, k)
}

func (s *store) config(o *object, data map[string]string) {
	kept := map[string]string{}
	for k, v := range data {
		kept[k] = v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configs == nil {
		s.configs = map[string][]config{}
	}
	s.configs[o.name] = append(s.configs[o.name], config{*o, kept})
}

func (s *store) limitRange(o *object, limit, request quantity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranges = append(s.ranges, limitRange{*o, limit, request})
}

// configFor is the ConfigMap that an object means by a name: the one in its file, else
// in its folder, else the only one.
func (s *store) configFor(o *object, name string) (*config, string) {
	all := s.configs[name]
	for _, near := range []func(a object) bool{
		func(a object) bool { return a.path == o.path },
		func(a object) bool { return path.Dir(a.path) == path.Dir(o.path) },
		func(object) bool { return true },
	} {
		var found []*config
		for i := range all {
			if near(all[i].object) && sameNamespace(all[i].namespace, o.namespace) {
				found = append(found, &all[i])
			}
		}
		switch {
		case len(found) == 1:
			return found[0], ""
		case len(found) > 1:
			return nil, "there are several ConfigMaps " + name
		}
	}
	return nil, "ConfigMap " + name + " is not among the files"
}

// rangeFor is the LimitRange that holds for an object: one of its namespace in its file
// or folder.
func (s *store) rangeFor(o *object) *limitRange {
	for i := range s.ranges {
		r := &s.ranges[i]
		if r.namespace == o.namespace && path.Dir(r.path) == path.Dir(o.path) {
			return r
		}
	}
	return nil
}

// sameNamespace also holds where one of them is left to kubectl.
func sameNamespace(a, b string) bool { return a == b || a == "" || b == "" }

// take adds what another holds.
func (s *store) take(own *store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.containers = append(s.containers, own.containers...)
	s.ranges = append(s.ranges, own.ranges...)
	for name, list := range own.configs {
		if s.configs == nil {
			s.configs = map[string][]config{}
		}
		s.configs[name] = append(s.configs[name], list...)
	}
}
