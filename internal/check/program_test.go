package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
)

func TestImageName(t *testing.T) {
	for name, want := range map[string]string{
		"":                               "",
		"api":                            "docker.io/library/api:latest",
		"api:1":                          "docker.io/library/api:1",
		"acme/api":                       "docker.io/acme/api:latest",
		"docker.io/acme/api:latest":      "docker.io/acme/api:latest",
		"localhost/api:1":                "localhost/api:1",
		"ghcr.io/acme/api:1.2":           "ghcr.io/acme/api:1.2",
		"registry:5000/api":              "registry:5000/api:latest",
		"registry:5000/api:1@sha256:abc": "registry:5000/api:1",
		"api@sha256:abc":                 "docker.io/library/api:sha256:abc",
	} {
		if got := imageName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestNamesOf(t *testing.T) {
	got := strings.Join(NamesOf("bin/api.exe", "example.com/acme/api", "example.com/acme/tool/v2", "ghcr.io/acme/web:1.2@sha256:abc", "", "/"), " ")
	if got != "api tool web" {
		t.Errorf("%q", got)
	}
}

// TestExpected: which of several expected values is for a program, in whatever order they are read.
func TestExpected(t *testing.T) {
	for name, tc := range map[string]struct {
		files []string
		use   Use
		want  string
	}{
		"next to the manifest": {[]string{"prod/api.expected.json", "test/api.expected.json"}, Use{Name: "api", Path: "test/api.yaml"}, "test/api.expected.json"},
		"elsewhere":            {[]string{"prod/api.expected.json", "test/api.expected.json"}, Use{Name: "api", Path: "deploy/api.yaml"}, "prod/api.expected.json"},
		"procfit.yaml":         {[]string{"", "test/api.expected.json"}, Use{Name: "api", Path: "test/api.yaml"}, ""},
		"another program":      {[]string{"", "test/api.expected.json"}, Use{Name: "web", Path: "test/web.yaml"}, "none"},
	} {
		for range 2 {
			p := &Programs{}
			for _, file := range tc.files {
				p.Expect(file, &rule.Expected{Program: "api", Commit: file})
			}
			got := "none"
			if e := p.Expected(tc.use); e != nil {
				got = e.Commit
			}
			if got != tc.want {
				t.Errorf("%s: %q, want %q", name, got, tc.want)
			}
			slices.Reverse(tc.files)
		}
	}
}

// TestProgramsFor: which program a container has.
func TestProgramsFor(t *testing.T) {
	candidate := func(version, from string, change func(*Candidate)) Candidate {
		c := Candidate{Program: Program{GoVersion: version, From: from}}
		change(&c)
		return c
	}
	image := candidate("go1.24", "image.tar", func(c *Candidate) {
		c.Images, c.Names, c.Started = []string{"acme/api:1"}, []string{"app", "api"}, true
	})
	tool := candidate("go1.20", "image.tar (tool)", func(c *Candidate) { c.Images, c.Names = []string{"acme/api:1"}, []string{"tool"} })
	probe := candidate("go1.19", "java.tar", func(c *Candidate) { c.Images, c.Names, c.Idle = []string{"acme/java:1"}, []string{"probe"}, true })
	server := candidate("go1.25", "bin/server", func(c *Candidate) { c.Names, c.Given = []string{"server"}, true })
	worker := candidate("go1.26", "bin/worker", func(c *Candidate) { c.Names, c.Given = []string{"worker"}, true })
	same := candidate("go1.26", "bin/x", func(c *Candidate) { c.Names, c.Given = []string{"x"}, true })
	found := candidate("go1.23", "tools/gen", func(c *Candidate) { c.Names = []string{"gen"} })
	module := candidate("", "go.mod", func(c *Candidate) { c.Language, c.Names, c.Module, c.Given = "1.24", []string{"server"}, true, true })
	shop := candidate("", "go.mod", func(c *Candidate) {
		c.Language, c.Names, c.Module, c.Path = "1.26", []string{"shop"}, true, "github.com/acme/shop/v2"
	})
	for use, elsewhere := range map[Use]bool{
		{Image: "ghcr.io/acme/shop:1"}: false, {Image: "registry.example.org/other/shop"}: false, {Image: "shop"}: false, {Command: "/bin/shop"}: false,
		{Image: "gcr.io/not-acme/shop"}: true, {Image: "ghcr.io/acme/tester:1", Name: "shop"}: true,
	} {
		p := &Programs{}
		p.Add(shop)
		if got, _ := p.For(use); got.From != "go.mod" || got.Elsewhere != elsewhere {
			t.Errorf("%+v: %+v, want elsewhere %v", use, got, elsewhere)
		}
	}
	for name, tc := range map[string]struct {
		all   []Candidate
		flag  string
		use   Use
		want  string
		among string
	}{
		"by image":                     {[]Candidate{image, tool, server}, "", Use{Image: "docker.io/acme/api:1"}, "image.tar", ""},
		"before --go":                  {[]Candidate{image, tool}, "go1.22", Use{Image: "acme/api:1"}, "image.tar", ""},
		"by image and command":         {[]Candidate{image, tool}, "", Use{Image: "acme/api:1", Command: "/usr/bin/tool"}, "image.tar (tool)", ""},
		"another command of the image": {[]Candidate{image, tool}, "", Use{Image: "acme/api:1", Command: "/bin/sh"}, "image.tar", ""},
		"a tool of an image":           {[]Candidate{probe}, "", Use{Image: "acme/java:1", Go: true, Only: true}, "", ""},
		"a tool that is started":       {[]Candidate{probe}, "", Use{Image: "acme/java:1", Command: "/bin/probe"}, "java.tar", ""},
		"another tag":                  {[]Candidate{image, tool}, "", Use{Image: "registry.example.org/api:7"}, "image.tar", ""},
		"another image":                {[]Candidate{image, tool}, "", Use{Image: "acme/other:1"}, "", ""},
		"--go":                         {[]Candidate{server}, "go1.22", Use{Image: "acme/server"}, "--go", ""},
		"by the image's last name":     {[]Candidate{server, worker}, "", Use{Image: "acme/server:3"}, "bin/server", ""},
		"by the container's name":      {[]Candidate{server, worker}, "", Use{Image: "acme/all:3", Name: "worker"}, "bin/worker", ""},
		"by the command":               {[]Candidate{server, worker}, "", Use{Command: "/usr/bin/worker"}, "bin/worker", ""},
		"the only one, of Go":          {[]Candidate{server, found}, "", Use{Image: "acme/all", Go: true}, "bin/server", ""},
		"the only one, not of Go":      {[]Candidate{server}, "", Use{Image: "nginx"}, "", ""},
		"the only image":               {[]Candidate{server}, "", Use{Image: "acme/all", Only: true}, "bin/server", ""},
		"one that nobody named":        {[]Candidate{found}, "", Use{Image: "acme/all", Go: true, Only: true}, "", ""},
		"several":                      {[]Candidate{worker, server}, "", Use{Go: true}, "", "bin/server, bin/worker"},
		"several alike":                {[]Candidate{worker, same}, "", Use{Go: true}, "bin/worker", ""},
		"a program before its go.mod":  {[]Candidate{module, server}, "", Use{Name: "server"}, "bin/server", ""},
		"a go.mod":                     {[]Candidate{module}, "", Use{Name: "server"}, "go.mod", ""},
		"none":                         {nil, "", Use{Image: "acme/api:1", Go: true}, "", ""},
	} {
		for range 2 { // in any order
			p := &Programs{}
			if tc.flag != "" {
				p.Default = Program{GoVersion: tc.flag, From: "--go"}
			}
			for _, c := range tc.all {
				p.Add(c)
			}
			got, among := p.For(tc.use)
			if got.From != tc.want || strings.Join(among, ", ") != tc.among {
				t.Errorf("%s: %+v among %q, want %q among %q", name, got, among, tc.want, tc.among)
			}
			slices.Reverse(tc.all)
		}
	}
}
