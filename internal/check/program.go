package check

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Program is what is known of a Go program without running it: from the flag --go, an
// annotation, a go.mod, the program itself, or an image that holds it.
type Program struct {
	GoVersion      string // "go1.24.6"; "" where it is not known
	Language       string // the go line of its go.mod; "" where that is not known by itself
	DefaultGODEBUG string // what the linker baked in; of a module, its godebug and //go:debug lines that decide, see Defaults
	Automaxprocs   string // the version of go.uber.org/automaxprocs in it
	Required       bool   // only a go.mod says of automaxprocs: whether the program imports it is not seen
	MaySet         string // what in it may set GOMAXPROCS, in words; "": nothing is known to
	Follows        bool   // it imports maxprocs/auto
	GOMAXPROCS     string // that its image sets; "": none
	GODEBUG        string // the same
	Foreign        bool   // others wrote it
	Elsewhere      bool   // only a name says that the image has it, and the image is named after another project
	From           string // where this is known from, in words: "--go 1.24"
}

func (p Program) Known() bool { return p.GoVersion != "" || p.Language != "" }

// Check reports whether the versions can be read.
func (p Program) Check() error {
	return facts.Go{Version: p.GoVersion, Language: p.Language}.Check()
}

// Defaults are the language that decides whether the program follows a limit, or else the settings
// that do, as the go command makes them of a go line and godebug lines (cmd/go/internal/load,
// defaultGODEBUG): default= takes the place of the go line, and any other line goes before both.
func (p Program) Defaults() (language, godebug string) {
	decides := false
	language = p.Language
	for setting := range strings.SplitSeq(p.DefaultGODEBUG, ",") {
		key, value, _ := strings.Cut(setting, "=")
		decides = decides || Decides(key)
		if key == "default" {
			language = strings.TrimPrefix(value, "go")
		}
	}
	if !decides {
		return p.Language, p.DefaultGODEBUG
	}
	on := 1
	if !(facts.Go{Language: language}).ReadsLimit(facts.Facts{}) {
		on = 0
	}
	return "", fmt.Sprintf("containermaxprocs=%d,updatemaxprocs=%[1]d,%s", on, p.DefaultGODEBUG) // the last one counts
}

// Candidate is a program, an image's or a module's, that is next to manifests.
type Candidate struct {
	Program
	Images  []string // the names of the image that it lies in
	Names   []string // by which somebody may call it: "api"
	Started bool     // of those in its image it is the one that is started
	Idle    bool     // its image starts something else, unless a manifest says otherwise
	Module  bool     // only its go.mod was read
	Path    string   // of that module
	Given   bool     // the user has named it
}

// Use is what a manifest says of the program that it starts.
type Use struct {
	Image   string // "ghcr.io/acme/api:1.2"
	Name    string // of the container or service
	Command string // the program that is started, where the manifest says so
	Go      bool   // it is one of Go
	Only    bool   // the manifests start nothing else
	Path    string // of the file that says so
}

// MaySet is what in the source of a program sets GOMAXPROCS, or decides what the runtime chooses.
type MaySet struct {
	Words   string // "main.go:8 calls runtime.GOMAXPROCS(8)"; "": nothing is known to
	Guarded bool   // only where the environment does not
	Follows bool   // only by an import that follows the limit, as the runtime does: maxprocs/auto
	Always  bool   // which each program has that it may be
	Debug   string // the //go:debug lines that decide, as "default=go1.24,containermaxprocs=1"; "": there are none, or it is not known which program it is
	Differ  bool   // it may be one of several programs, in which such lines differ
	Without bool   // it is known which program it is, and none of its packages imports automaxprocs
}

// Programs are those that manifests may run.
type Programs struct {
	Default Program // of every container, where Known

	mu       sync.Mutex
	all      []Candidate
	expected []kept // in the order of their files
}

// kept is an expected value with the file of its own; "": it is in procfit.yaml.
type kept struct {
	*rule.Expected
	file string
}

// Expect makes known what is kept for a program, in a file of its own; "": in procfit.yaml.
func (p *Programs) Expect(file string, e *rule.Expected) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, kept{e, file})
	sorting.Stable(p.expected, func(a, b kept) int { return cmp.Compare(a.file, b.file) })
}

// Expected is what is kept for the image, the container or the command of a use; nil: nothing is.
// One without a name is of what is known to be Go. The file in the folder of the use goes before
// others.
func (p *Programs) Expected(u Use) *rule.Expected {
	p.mu.Lock()
	defer p.mu.Unlock()
	var first *rule.Expected
	for _, k := range p.expected {
		switch {
		case !(k.Program == "" && u.Go || u.IsCalled(k.Program)):
		case k.file == "", path.Dir(k.file) == path.Dir(u.Path):
			return k.Expected
		case first == nil:
			first = k.Expected
		}
	}
	return first
}

func (u Use) IsCalled(name string) bool {
	return name != "" && slices.Contains([]string{shortName(u.Image), u.Name, path.Base(u.Command)}, name)
}

func (p *Programs) ForAll(known Program) bool { return known == p.Default }

// Add makes a program known that tells how it chooses GOMAXPROCS.
func (p *Programs) Add(c Candidate) {
	if !c.Known() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, c)
}

// For is the program that the image of that name starts; else the one that holds for all; else one
// of the name of the image, the container or the command; else, for what is known to be Go or is
// all that there is, the only one that the user has named. Several are none, and are reported.
func (p *Programs) For(u Use) (known Program, among []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if image := imageName(u.Image); image != "" {
		its := func(name string) bool { return imageName(name) == image }
		started := func(c Candidate) bool { return !c.Idle || slices.Contains(c.Names, path.Base(u.Command)) }
		if found := those(p.all, func(c Candidate) bool { return slices.ContainsFunc(c.Images, its) && started(c) }); len(found) > 0 {
			return one(startedBy(found, u.Command))
		}
	}
	if p.Default.Known() {
		return p.Default, nil
	}
	found := those(p.all, func(c Candidate) bool { return slices.ContainsFunc(c.Names, u.IsCalled) })
	for i := range found {
		found[i].Elsewhere = found[i].Module && ofAnother(u.Image, found[i].Path)
	}
	if len(found) == 0 && (u.Go || u.Only) {
		found = those(p.all, func(c Candidate) bool { return c.Given })
	}
	return one(startedBy(found, u.Command))
}

// ModuleOf is the only go.mod whose program has the name of the image, the container or the
// command; else, for what is known to be Go or is all that there is, the only go.mod. "": none is.
func (p *Programs) ModuleOf(u Use) (goMod string, named bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := those(p.all, func(c Candidate) bool { return c.Module && slices.ContainsFunc(c.Names, u.IsCalled) })
	if named = len(found) > 0; !named && (u.Go || u.Only) {
		found = those(p.all, func(c Candidate) bool { return c.Module && !ofAnother(u.Image, c.Path) })
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0].From, named
}

func those(all []Candidate, are func(Candidate) bool) []Candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return !are(c) })
}

// startedBy are those that a command starts, or no command. A program tells more than its go.mod.
func startedBy(found []Candidate, command string) []Candidate {
	for _, better := range []func(Candidate) bool{
		func(c Candidate) bool { return command != "" && slices.Contains(c.Names, path.Base(command)) },
		func(c Candidate) bool { return c.Started },
		func(c Candidate) bool { return !c.Module },
	} {
		if some := those(found, better); len(some) > 0 {
			found = some
		}
	}
	return found
}

// one is what all candidates have in common, else where each of them is.
func one(found []Candidate) (Program, []string) {
	if len(found) == 0 {
		return Program{}, nil
	}
	sorting.Stable(found, func(a, b Candidate) int { return cmp.Compare(a.From, b.From) })
	var among []string
	same := true
	for _, c := range found {
		among = append(among, c.From)
		c.From = found[0].From
		same = same && c.Program == found[0].Program
	}
	if same {
		return found[0].Program, nil
	}
	return Program{}, slices.Compact(among)
}

// imageName is a whole name, filled in as docker does. A digest next to a tag is left out; one
// alone is in the place of the tag.
func imageName(name string) string {
	name, digest, pinned := strings.Cut(name, "@")
	if name == "" {
		return ""
	}
	repository, tag := name, "latest"
	if pinned {
		tag = digest
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		repository, tag = name[:i], cmp.Or(name[i+1:], tag)
	}
	host, _, several := strings.Cut(repository, "/")
	switch {
	case !several:
		repository = "docker.io/library/" + repository
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		repository = "docker.io/" + repository
	}
	return repository + ":" + tag
}

// others are public images of programs that are not Go, without the docker.io/library/ or
// docker.io/ of Docker Hub; the former are also bitnami's. Another registry may have anything of
// such a name.
var others = []string{
	"nginx", "httpd", "haproxy", "redis", "valkey", "memcached", "postgres", "postgresql", "mysql", "mariadb", "mongo", "mongodb", "rabbitmq", "elasticsearch", "kibana",
	"logstash", "cassandra", "kafka", "zookeeper", "solr", "fluentd", "fluent-bit", "node", "python", "ruby", "php", "php-fpm", "openjdk", "eclipse-temurin", "amazoncorretto", "tomcat",
	"jetty", "wordpress", "nextcloud", "nginxinc/nginx-unprivileged", "haproxytech/haproxy-alpine", "envoyproxy/envoy", "envoyproxy/envoy-distroless", "fluent/fluentd",
	"fluent/fluent-bit", "cr.l5d.io/linkerd/proxy", "apache/kafka", "confluentinc/cp-kafka", "opensearchproject/opensearch", "clickhouse/clickhouse-server", "quay.io/keycloak/keycloak", "valkey/valkey",
}

// Other is the name of a public image whose program is known not to be one of Go; "": it is none.
func (u Use) Other() string {
	name := imageName(u.Image)
	name = name[:max(strings.LastIndexByte(name, ':'), 0)]
	if hub, ok := strings.CutPrefix(name, "docker.io/"); ok {
		name = hub
		for _, publisher := range []string{"library/", "bitnami/", "bitnamilegacy/"} {
			name = strings.TrimPrefix(name, publisher)
		}
	}
	return phrase.If(slices.Contains(others, name), name, "")
}

// publishers are registries whose images begin with the name of who publishes them.
var publishers = []string{"docker.io", "ghcr.io", "quay.io", "gcr.io", "registry.gitlab.com", "public.ecr.aws"}

// ofAnother reports whether an image of one of the publishers is not named after a module: by its
// publisher and its own name.
func ofAnother(image, module string) bool {
	host, rest, _ := strings.Cut(image, "/")
	publisher, _, named := strings.Cut(rest, "/")
	return named && slices.Contains(publishers, host) &&
		!(slices.Contains(strings.Split(module, "/"), publisher) && slices.Contains(NamesOf(module), shortName(image)))
}

// shortName is the last part of an image's name: "api".
func shortName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	base := path.Base(image)
	base, _, _ = strings.Cut(base, ":")
	return base
}

// NamesOf are names for a program, by its path, its package and its images.
func NamesOf(paths ...string) (names []string) {
	for _, p := range paths {
		name := strings.TrimSuffix(shortName(p), ".exe")
		if isMajor(name) { // of a module: example.com/api/v2
			name = path.Base(path.Dir(p))
		}
		if name != "" && name != "." && name != "/" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func isMajor(name string) bool {
	digits, ok := strings.CutPrefix(name, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

const automaxprocs = "go.uber.org/automaxprocs"

// MostModule is more than any go.mod or go.work, in bytes.
const MostModule = 4 << 20

// ModFile reads a go.mod, also one with lines of a newer Go, which its parser does not know.
func ModFile(file string, text []byte) (*modfile.File, error) {
	mod, err := modfile.Parse(file, text, nil)
	if err == nil {
		return mod, nil
	}
	if lax, _ := modfile.ParseLax(file, text, nil); lax != nil && lax.Module != nil {
		return lax, nil
	}
	return nil, err
}

// ReadModule tells of a module's programs which toolchain builds them if it has a toolchain line; its go
// line and its godebug lines decide whether they follow a limit.
func ReadModule(t *folder.Tree, path string) (Program, error) {
	b, err := t.ReadAbove(path, MostModule)
	if err != nil {
		return Program{}, err
	}
	return ParseModule(path, b)
}

// Decides reports whether a setting of this name decides whether a program follows a limit.
func Decides(setting string) bool {
	return slices.Contains([]string{"default", "containermaxprocs", "updatemaxprocs"}, setting)
}

// GodebugLines are those of a go.mod or a go.work that decide, as the linker writes them: "key=value,…". Modules
// that differ in other lines are the same.
func GodebugLines(all []*modfile.Godebug) string {
	deciding := slices.DeleteFunc(slices.Clone(all), func(g *modfile.Godebug) bool { return !Decides(g.Key) })
	return strings.Join(phrase.Each(deciding, func(g *modfile.Godebug) string { return g.Key + "=" + g.Value }), ",")
}

func ParseModule(path string, b []byte) (Program, error) {
	m, err := ModFile(path, b)
	if err != nil {
		return Program{}, err
	}
	if m.Go == nil {
		return Program{}, fmt.Errorf("%s: has no go line, which says how its programs choose GOMAXPROCS; write one", path)
	}
	p := Program{Language: m.Go.Version, From: path}
	if m.Toolchain != nil && m.Toolchain.Name != "default" {
		p.GoVersion = m.Toolchain.Name
	}
	p.DefaultGODEBUG = GodebugLines(m.Godebug)
	for _, r := range m.Require {
		if r.Mod.Path == automaxprocs && !r.Indirect {
			p.Automaxprocs, p.Required = r.Mod.Version, true
		}
	}
	return p, p.Check()
}
