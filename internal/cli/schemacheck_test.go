package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaSuffix is how the files of schemas end.
const schemaSuffix = ".schema.json"

// schemaPrefix is what the schemas of procfit's documents begin with.
const schemaPrefix = "procfit."

// mostValidated is more than any document of a script, in bytes.
const mostValidated = 64 << 20

// knownSchemas are those of a folder, by what the documents have as their schema.
type knownSchemas struct {
	mu     sync.Mutex
	byName map[string]*jsonschema.Schema
	counts map[string]int
}

// schemas are opened once, before a command of a script takes another directory.
var schemas = sync.OnceValues(func() (*knownSchemas, error) {
	dir, err := filepath.Abs(formats)
	if err != nil {
		return nil, err
	}
	return openSchemas(dir)
})

// openSchemas reads the schemas of a folder. A schema is that of the documents whose key schema
// it fixes, and one without the key is that of a file with the name, such as procfit.
func openSchemas(dir string) (*knownSchemas, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+schemaSuffix))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no schemas in %s: %w", dir, err)
	}
	s := &knownSchemas{byName: map[string]*jsonschema.Schema{}, counts: map[string]int{}}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource(file, doc); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		compiled, err := c.Compile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		s.byName[nameOf(doc, file)] = compiled
	}
	return s, nil
}

// nameOf is the schema that the documents of a schema have.
func nameOf(doc any, file string) string {
	defs, _ := doc.(map[string]any)["$defs"].(map[string]any)
	for _, def := range defs {
		of, _ := def.(map[string]any)["properties"].(map[string]any)
		name, _ := of["schema"].(map[string]any)
		if word, ok := name["const"].(string); ok {
			return word
		}
	}
	return strings.TrimSuffix(filepath.Base(file), schemaSuffix)
}

// Validate checks a value by the schema of a name.
func (s *knownSchemas) Validate(name string, v any) error {
	of := s.byName[name]
	if of == nil {
		return fmt.Errorf("no schema %s", name)
	}
	if err := of.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[name]++
	return nil
}

// Check validates all documents of procfit in a text: one, or several one after the
// other, as in JSON Lines and a journal, whose further lines have the schema of the first.
// A text of anything else has none. An incomplete last document is not at fault.
func (s *knownSchemas) Check(b []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	journal := ""
	for {
		var v any
		switch err := decoder.Decode(&v); {
		case err != nil: // of no JSON, or at the end
			return nil
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		name, _ := object["schema"].(string)
		if object["kind"] == "header" {
			journal = name
		} else if name == "" && object["kind"] != nil {
			name = journal
		}
		if !strings.HasPrefix(name, schemaPrefix) || s.otherVersion(name) {
			return nil
		}
		if err := s.Validate(name, v); err != nil {
			return err
		}
	}
}

// otherVersion says whether a schema is of a version that is not written now, as a test of
// reading has one.
func (s *knownSchemas) otherVersion(name string) bool {
	family, _, _ := strings.Cut(name, "/")
	other := false
	for known := range s.byName {
		if known == name {
			return false
		}
		other = other || strings.HasPrefix(known, family+"/")
	}
	return other
}

// CheckFile is Check of a file; one of more than most bytes is left out.
func (s *knownSchemas) CheckFile(path string, most int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || int64(len(b)) > most {
		return err
	}
	if err := s.Check(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Counts are how many documents of each schema were valid.
func (s *knownSchemas) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]int{}
	for name := range s.byName {
		counts[name] = s.counts[name]
	}
	return counts
}
