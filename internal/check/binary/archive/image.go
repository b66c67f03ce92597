package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/wrapper"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Program is a Go program in an archive.
type Program struct {
	Path           string // from the root of the archive or of the image
	GoVersion      string
	Package        string // of its main
	Module         string // its main module; "" when built outside of one
	DefaultGODEBUG string
	Automaxprocs   string // the version of go.uber.org/automaxprocs in it
	Code           goproc.Code
}

// ProgramOf copies texts, which share memory with all of a program's build info: an archive may
// have thousands.
func ProgramOf(p goproc.Program) Program {
	return Program{
		GoVersion: strings.Clone(p.GoVersion), Package: strings.Clone(p.Path), Module: strings.Clone(p.MainModule),
		DefaultGODEBUG: strings.Clone(p.DefaultGODEBUG), Automaxprocs: strings.Clone(rule.AutomaxprocsIn(p.Deps)), Code: p.Code,
	}
}

// Image is what a container gets.
type Image struct {
	Names    []string // as they were tagged: "ghcr.io/acme/api:1.2"
	Platform string   // "linux/amd64", where the image tells
	Env      []string // NAME=value
	Command  []string // entry point and arguments
	Programs []Program
	Main     int  // the one of Programs that is started; -1: not known
	Script   bool // a shell or a script of one is started, or may be
}

// Variable is the value of a variable in its config; of several the last counts.
func (i Image) Variable(name string) string {
	for _, e := range slices.Backward(i.Env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

type view struct {
	programs map[string]Program
	symlinks map[string]string

	reader *reader
	layers []*layer
}

func (r *reader) lay(layers []*layer) view {
	v := view{map[string]Program{}, map[string]string{}, r, layers}
	for _, l := range layers {
		if !r.look("") {
			break
		}
		linked := map[string]Program{}
		for name, target := range l.hardlinks {
			r.look(target)
			if p, ok := v.programs[target]; ok && len(linked) <= r.meter.limits.Programs {
				linked[name] = p
			}
		}
		maps.DeleteFunc(v.programs, func(name string, _ Program) bool { return r.hides(l, name) })
		maps.DeleteFunc(v.symlinks, func(name, _ string) bool { return r.hides(l, name) })
		maps.Copy(v.programs, linked)
		maps.Copy(v.programs, l.programs)
		maps.Copy(v.symlinks, l.symlinks)
	}
	return v
}

func (v view) list() (all []Program) {
	for name, p := range v.programs {
		p.Path = name
		all = append(all, p)
	}
	sorting.Stable(all, func(a, b Program) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// mostHops is how many links a path may go over, as in the kernel.
const mostHops = 40

func (v view) resolve(name string) string {
	left := strings.Split(path.Clean("/"+name), "/")
	at := "/"
	for hops := 0; len(left) > 0; {
		next := path.Join(at, left[0])
		left = left[1:]
		if len(next) > longestName || len(left) > longestName || !v.reader.look(next) {
			return name
		}
		target, ok := v.symlinks[next]
		if !ok {
			at = next
			continue
		}
		if hops++; hops > mostHops {
			return name
		}
		if !path.IsAbs(target) {
			target = path.Join(at, target)
		}
		left = append(strings.Split(path.Clean(target), "/"), left...)
		at = "/"
	}
	return at
}

// defaultPath is what container runtimes set if an image sets none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// starters are Go programs that only start another one; those of package wrapper do, too.
var starters = []string{"dockerize", "go-runner"}

// launcher of Cloud Native Buildpacks starts what is in a file of its own.
const launcher = "/cnb/lifecycle/launcher"

// isStarter reports whether a program only starts another one, or is a helper that a launcher runs before it.
func isStarter(name string) bool {
	helper, _ := path.Match("/layers/*/helper/*", name)
	return helper || name == launcher || slices.Contains(starters, path.Base(name)) || wrapper.Is(name)
}

// Bounds of what is looked at.
const (
	mostWords   = 64 // of a command
	mostFolders = 64 // of PATH
)

// started is the first word that is a program: a shell or an init may come before it.
func (v view) started(i Image, dir string) (string, bool) {
	var words []string
	for _, c := range i.Command {
		words = append(words, strings.Fields(c)...)
	}
	for _, w := range words[:min(len(words), mostWords)] {
		for _, found := range v.places(w, i, dir) {
			if _, ok := v.programs[found]; ok && !isStarter(found) {
				return found, true
			}
		}
	}
	return "", false
}

func (v view) places(word string, i Image, dir string) (all []string) {
	var in []string
	switch {
	case path.IsAbs(word):
		in = []string{"/"}
	case strings.Contains(word, "/"):
		in = []string{path.Join("/", dir)}
	default:
		in = strings.SplitN(cmp.Or(i.Variable("PATH"), defaultPath), ":", mostFolders+1)
	}
	for _, d := range in[:min(len(in), mostFolders)] {
		if len(d)+len(word) < longestName {
			all = append(all, v.resolve(path.Join(d, word)))
		}
	}
	return all
}

// maybeShell reports whether a file may be a script of a shell, and whether the file is there.
func (v view) maybeShell(name string) (may, found bool) {
	for _, l := range slices.Backward(v.layers) {
		name = cmp.Or(l.hardlinks[name], name)
		switch own := v.reader.hash(name); {
		case l.others.has(own):
			return false, true
		case l.files.has(own):
			return true, true
		case v.reader.hides(l, name):
			return false, false
		}
	}
	return false, false
}

// main is the number of the program that the command names, else of the only one that the image
// may start; -1: not known.
func (v view) main(i Image, dir string) int {
	if name, ok := v.started(i, dir); ok {
		return slices.IndexFunc(i.Programs, func(p Program) bool { return p.Path == name })
	}
	main := -1
	for n := range i.Programs {
		if i.MayStart(n) && main >= 0 {
			return -1
		} else if i.MayStart(n) {
			main = n
		}
	}
	return main
}

// MayStart: a script may start any of the Programs, and nobody has read it.
func (i Image) MayStart(n int) bool {
	if i.Main >= 0 {
		return i.Main == n
	}
	return i.Script && !isStarter(i.Programs[n].Path)
}

// script: a shell or a script is started, or may be. A path is one unless it is known to be
// something else.
func (v view) script(i Image, dir string) bool {
	words := unwrapped(i.Command[:min(len(i.Command), mostWords)])
	if text, _, _ := wrapper.Script(words); text != "" {
		words = inScript(text)
	}
	if len(words) == 0 || wrapper.IsShell(words[0]) || path.Ext(words[0]) == ".sh" || strings.Contains(path.Base(words[0]), "entrypoint") {
		return true
	}
	for _, p := range v.places(words[0], i, dir) {
		if p == launcher {
			return true
		}
		if may, found := v.maybeShell(p); found {
			return may
		}
	}
	return strings.Contains(words[0], "/")
}

func unwrapped(words []string) []string {
	for more := true; more; {
		words, more = wrapper.Next(words, new(wrapper.Effect))
	}
	return words
}

// inScript is the only command of a shell's text; none: it is not known.
func inScript(text string) []string {
	if strings.ContainsAny(text, ";&|\n<>`") || strings.Contains(text, "$(") {
		return nil
	}
	words := unwrapped(append([]string{"env"}, strings.Fields(text)...)) // with assignments before it
	if len(words) == 0 || !plain().MatchString(words[0]) || slices.Contains(builtins, words[0]) {
		return nil
	}
	return words
}

// plain is a word that a shell takes as it is.
var plain = pattern.Of(`^[\w./+-]+$`)

// builtins are commands of a shell that start what their arguments name, or another script.
var builtins = []string{".", "source", "eval", "command", "builtin"}

type plan struct {
	image  Image
	dir    string   // in which its command is started
	layers []string // from the lowest
}

type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// dockerImages are those of a manifest.json; nil: it is somebody else's.
func dockerImages(b []byte) (all []dockerImage) {
	if json.Unmarshal(b, &all) != nil || len(all) == 0 || all[0].Config == "" {
		return nil
	}
	return all
}

// Names that the OCI, and containerd with the whole name, give to an image in an index.
const (
	refName        = "org.opencontainers.image.ref.name"
	containerdName = "io.containerd.image.name"
)

const (
	mostImages = 256
	deepest    = 4 // indexes in indexes
)

type planner struct {
	*reader
	read   func(name string) ([]byte, error)
	all    []plan
	visits int // entries of indexes
	bytes  int // of documents: images may share one, and each takes it apart
}

var errDocuments = fmt.Errorf("the documents of its images have more than %d bytes together", mostDocumentBytes)

// Newer dockers write both kinds of documents; manifest.json has the whole names.
func (r *reader) plans(read func(name string) ([]byte, error)) []plan {
	p := &planner{reader: r}
	p.read = func(name string) ([]byte, error) {
		if p.bytes > mostDocumentBytes {
			return nil, errDocuments
		}
		b, err := read(name)
		p.bytes += len(b)
		return b, err
	}
	b, err := p.read("/manifest.json")
	if images := dockerImages(b); err == nil && images != nil {
		p.docker(images)
		return p.all
	}
	b, err = p.read("/index.json")
	if err != nil {
		r.fault("/index.json", err)
		return nil
	}
	p.index("/index.json", b, nil, 0)
	return p.all
}

func (r *planner) docker(images []dockerImage) {
	for _, i := range images[:min(len(images), mostImages)] {
		p := plan{image: Image{Names: i.RepoTags}, layers: phrase.Each(i.Layers, func(l string) string { return path.Clean("/" + l) })}
		r.config(&p, path.Clean("/"+i.Config))
		r.all = append(r.all, p)
	}
}

func (r *planner) config(p *plan, name string) {
	var c *v1.ConfigFile
	b, err := r.read(name)
	if err == nil {
		c, err = v1.ParseConfigFile(bytes.NewReader(b))
	}
	if err != nil {
		r.fault(name, fmt.Errorf("the config of an image: %w", err))
		return
	}
	p.dir = c.Config.WorkingDir
	p.image.Env = c.Config.Env
	p.image.Command = append(slices.Clone(c.Config.Entrypoint), c.Config.Cmd...)
	if c.OS != "" {
		p.image.Platform = c.OS + "/" + c.Architecture
	}
}

func (r *planner) index(at string, b []byte, names []string, depth int) {
	idx, err := v1.ParseIndexManifest(bytes.NewReader(b))
	if depth > deepest {
		err = errors.New("its indexes are nested too deeply")
	}
	if err != nil {
		r.fault(at, fmt.Errorf("is not an index of images: %w", err))
		return
	}
	for _, m := range idx.Manifests {
		if r.visits++; len(r.all) >= mostImages || r.visits > mostDocuments {
			r.fault(at, fmt.Errorf("has more than %d images; the others are skipped", mostImages))
			return
		}
		if m.Platform != nil && m.Platform.OS == "unknown" { // an attestation
			continue
		}
		names := names
		if name := cmp.Or(m.Annotations[containerdName], m.Annotations[refName]); name != "" {
			names = []string{name}
		}
		file := blob(m.Digest)
		text, err := r.read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && m.Platform != nil:
			continue // an index of several platforms, where one was saved
		case err != nil:
			r.fault(file, fmt.Errorf("the manifest of an image: %w", err))
		case m.MediaType.IsIndex():
			r.index(file, text, names, depth+1)
		default:
			r.manifest(file, text, names)
		}
	}
}

func (r *planner) manifest(at string, b []byte, names []string) {
	m, err := v1.ParseManifest(bytes.NewReader(b))
	if err != nil {
		r.fault(at, fmt.Errorf("the manifest of an image: %w", err))
		return
	}
	p := plan{image: Image{Names: names}}
	for _, l := range m.Layers {
		if l.MediaType.IsLayer() {
			p.layers = append(p.layers, blob(l.Digest))
		}
	}
	if len(p.layers) == 0 {
		return // a signature, a chart, or another artifact that is no image
	}
	r.config(&p, blob(m.Config.Digest))
	r.all = append(r.all, p)
}

func blob(d v1.Hash) string { return path.Clean("/blobs/" + d.Algorithm + "/" + d.Hex) }
