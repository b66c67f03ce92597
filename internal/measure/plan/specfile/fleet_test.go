package specfile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/test/must"
)

const someFleet = `services:
  api:
    file: services/api/procfit.yaml
    manifest: deploy/api.yaml
    object: Deployment/api
    container: app
  import:
    target: {command: [./import, -n, 3]}
    stop: &short {for: 5m}
  other:
    target:
      command: ./other
    stop: *short
load:
  trialTime: 2s
`

// allTexts are what a file sets, as flags would give it.
func allTexts(t *testing.T, f *File) (got []string) {
	t.Helper()
	err := f.Apply(func(field.Field) bool { return false }, func(name, text string) error {
		got = append(got, name+"="+text)
		return nil
	})
	must.OK(t, err)
	return got
}

func TestReadsAFleet(t *testing.T) {
	f := must.Get(ReadFleet("fleet.yaml", []byte(someFleet), rows()))(t)
	if len(f.Services) != 3 || f.Services[0].Name != "api" || f.Services[2].Name != "other" {
		t.Fatalf("%+v", f.Services)
	}
	api := f.Services[0]
	if api.File != "services/api/procfit.yaml" || api.Manifest != "deploy/api.yaml" || api.Object != "Deployment/api" || api.Container != "app" || allTexts(t, api.Settings) != nil {
		t.Errorf("%+v", api)
	}
	if got, want := allTexts(t, f.Services[1].Settings), []string{"command=./import", "command=-n", "command=3", "for=5m"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := allTexts(t, f.Services[2].Settings), []string{"command=./other", "for=5m"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := allTexts(t, f.Common); !slices.Equal(got, []string{"trial-time=2s"}) || !f.Common.Has("trial-time") || f.Common.Has("rate") {
		t.Errorf("all services have %q", got)
	}
	why := errors.New("it is not there")
	for key, want := range map[string]string{
		OfManifest: "fleet.yaml:4:15: services.api.manifest: it is not there", "": "fleet.yaml:2:3: services.api: it is not there", "cpus": "fleet.yaml:2:3: services.api: it is not there",
	} {
		if got := api.Wrong(key, why).Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	own := &Error{"procfit.yaml", 1, 2, "wrong"}
	if got := api.Wrong("", own); got != error(own) {
		t.Errorf("an error with a place of its own: %v", got)
	}
}

func TestSaysWhatIsWrongInAFleet(t *testing.T) {
	const none = "f.yaml: it has no services; write services:"
	for text, want := range map[string]string{
		"":                           none,
		"load: {trialTime: 2s}":      none,
		"services:":                  none,
		"services: {}":               none,
		"services: [a]":              "f.yaml:1:11: services: expected keys with values, as in key: value",
		"services: {a/b: {file: x}}": `f.yaml:1:12: services: "a/b" is not a name for a folder of results: use letters, digits, - and _`,
		"services: {..: {file: x}}":  `".." is not a name`,
		"services: {-rf: {file: x}}": `"-rf" is not a name`,
		"services:\n  a: {file: x}\n  a: {file: y}": `f.yaml:3:3: services: "a" is there twice`,
		"services:\n  a:":                                         `f.yaml:2:3: services.a has no settings: write file: FILE`,
		"services:\n  a: {manifest: x}":                           `f.yaml:2:3: services.a has no settings: write file: FILE`,
		"services:\n  a: {manifst: x}":                            `f.yaml:2:7: unknown section "manifst". Did you mean manifest?`,
		"services:\n  a: {file: }":                                `services.a.file: expected one word`,
		"services:\n  a: {file: [x]}":                             `services.a.file: expected one word`,
		"services:\n  a: {file: x, container: app}":               `f.yaml:2:27: services.a.container has no effect without manifest`,
		"services:\n  a: {target: {comand: x}}":                   `f.yaml:2:16: target.comand: unknown key. Did you mean command?`,
		"servces:\n  a: {file: x}":                                `f.yaml:1:1: unknown section "servces". Did you mean services?`,
		"services: {a: {file: x}}\n---\nservices: {b: {file: x}}": `f.yaml:2:1: a second document: one file describes one fleet`,
		"services: " + strings.Repeat("x", 2<<20):                 `f.yaml: larger than 1048576 bytes: not a fleet.yaml`,
		"services: [":                                             `f.yaml:1: invalid YAML`,
	} {
		if _, err := ReadFleet("f.yaml", []byte(text), rows()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// FuzzReadFleet finds texts on which the reader fails otherwise than by an error, and
// services whose names could lead out of a folder.
func FuzzReadFleet(f *testing.F) {
	f.Add(someFleet)
	f.Add("services: {a: &a {file: *a}}")
	f.Add("services: {'../a': {target: {command: x}}}")
	f.Add("a: &a [*a]\nservices: *a")
	known := rows()
	f.Fuzz(func(t *testing.T, text string) {
		fleet, err := ReadFleet("f", []byte(text), known)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range fleet.Services {
			if seen[s.Name] || strings.ContainsAny(s.Name, "/\\. \n") || s.Name == "" || s.Name[0] == '-' {
				t.Fatalf("%q has a service %q", text, s.Name)
			}
			seen[s.Name] = true
			if s.File == "" && len(s.Settings.items) == 0 {
				t.Fatalf("%q has a service without settings", text)
			}
			for _, key := range []string{"", OfFile, OfManifest} {
				if s.Wrong(key, errors.New("x")).Error() == "" {
					t.Fatal("an error without a text")
				}
			}
		}
	})
}
