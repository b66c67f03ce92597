// Package schematest validates the JSON documents that procfit writes by their JSON Schemas in
// docs/reference/formats, for tests.
package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const suffix = ".schema.json"

// most is more than any document of a test, in bytes.
const most = 64 << 20

// Schemas are those of docs/reference/formats, by what the documents have as their schema.
type Schemas map[string]*jsonschema.Schema

// Load reads the schemas once. The first call has to come before a test changes the working
// directory, from which the folder is searched upwards.
var Load = sync.OnceValues(func() (Schemas, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		formats := filepath.Join(dir, "docs", "reference", "formats")
		if _, err := os.Stat(formats); err == nil {
			return open(formats)
		}
		if dir == filepath.Dir(dir) {
			return nil, errors.New("no folder docs/reference/formats here or above")
		}
		dir = filepath.Dir(dir)
	}
})

// open reads the schemas of a folder. A schema is that of the documents whose key schema
// it fixes, and one without the key is that of a file with the name, such as procfit.
func open(dir string) (Schemas, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no schemas in %s: %w", dir, err)
	}
	s := Schemas{}
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
		s[nameOf(doc, file)] = compiled
	}
	return s, nil
}

func nameOf(doc any, file string) string {
	defs, _ := doc.(map[string]any)["$defs"].(map[string]any)
	for _, def := range defs {
		of, _ := def.(map[string]any)["properties"].(map[string]any)
		name, _ := of["schema"].(map[string]any)
		if word, ok := name["const"].(string); ok {
			return word
		}
	}
	return strings.TrimSuffix(filepath.Base(file), suffix)
}

// Validate checks a value by the schema of a name.
func (s Schemas) Validate(name string, v any) error {
	of := s[name]
	if of == nil {
		return fmt.Errorf("no schema %s", name)
	}
	if err := of.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Check validates all documents of procfit in a text: one, or several one after the
// other, as in JSON Lines and a journal, whose further lines have the schema of the first.
// A text of anything else has none. An incomplete last document is not at fault.
func (s Schemas) Check(b []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	journal := ""
	for {
		var v any
		if decoder.Decode(&v) != nil { // of no JSON, or at the end
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
		if !strings.HasPrefix(name, "procfit.") || s.otherVersion(name) {
			return nil
		}
		if err := s.Validate(name, v); err != nil {
			return err
		}
	}
}

// otherVersion reports whether a name is of a version that procfit no longer writes, such as
// that of an old journal in the testdata of a reader.
func (s Schemas) otherVersion(name string) bool {
	if s[name] != nil {
		return false
	}
	family, _, _ := strings.Cut(name, "/")
	for known := range s {
		if strings.HasPrefix(known, family+"/") {
			return true
		}
	}
	return false
}

// checkFile is Check of a file. It skips one that is too large.
func (s Schemas) checkFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || len(b) > most {
		return err
	}
	if err := s.Check(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// CheckFolder is Check of the .json and .jsonl files of a folder, as far as they can be read.
func (s Schemas) CheckFolder(dir string) error {
	var invalid []error
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (filepath.Ext(path) == ".json" || filepath.Ext(path) == ".jsonl") {
			invalid = append(invalid, s.checkFile(path))
		}
		return nil
	})
	return errors.Join(append(invalid, err)...)
}
