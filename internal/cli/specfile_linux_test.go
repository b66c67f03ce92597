package cli

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/cli/schematest"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

// ofFile is a command whose settings are all in a file.
func ofFile(t *testing.T, name string, text []byte) *measurement {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	must.OK(t, os.WriteFile(path, text, 0o600))
	m, _ := measurements[name](quiet(), &cobra.Command{})
	m.file = path
	if err := m.readFile(quiet()); err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return m
}

// A file that is written of a Spec is read as the same Spec, whatever its fields hold, and is
// valid by its schema.
func TestFileRoundTrip(t *testing.T) {
	known := must.Get(schematest.Load())(t)
	r := rand.New(rand.NewPCG(26, 5))
	same := 0
	for n := range 600 {
		name := readsFile[n%len(readsFile)]
		args := randomRun(r, name)
		first := measurementOf(t, name, args)
		asked := first.asked(quiet())
		text := must.Get(specfile.Write(asked, fileRows()))(t)
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if v != nil {
			if err := known.Validate("procfit", plainJSON(v)); err != nil {
				t.Errorf("%s\n%v", text, err)
			}
		}
		second := ofFile(t, name, text)
		if got := readBack(second, specfile.Rest(asked, fileRows())); !reflect.DeepEqual(got, asked) {
			t.Fatalf("%q\nis written as\n%s\n got %s\nwant %s", args, text, got.Shell(), asked.Shell())
		}
		a, err := toSpec(first.spec, quiet())
		if err != nil || asked.Variables() != nil {
			continue // which is not of what may go together, or lacks a credential
		}
		b, err := toSpec(second.spec, quiet())
		a.Name, a.Target.Against = "", nil // which are not of the file
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%q\nis written as\n%s\n%v\n%+v\n%+v", args, text, err, a, b)
		}
		same++
	}
	if same < 100 {
		t.Errorf("only %d settings were compared", same)
	}
}

// A command that procfit proposes is read as what it promises, in a folder whose procfit.yaml
// has what it leaves out.
func TestProposedInAFolderWithAFile(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 11))
	t.Chdir(t.TempDir())
	left := 0
	for n := range 200 {
		name := readsFile[n%len(readsFile)]
		text, err := specfile.Write(measurementOf(t, name, randomRun(r, name)).asked(quiet()), fileRows())
		if err == nil {
			err = os.WriteFile(specfile.Name, text, 0o600)
		}
		must.OK(t, err)
		m := measurementOf(t, name, randomRun(r, name))
		if m.file == "-" || m.spec.Body == "@-" || m.spec.Requests == "-" {
			continue
		}
		if err := m.readFile(quiet()); err != nil {
			continue // the two cannot be combined
		}
		asked := m.asked(quiet())
		if asked.Variables() != nil {
			continue
		}
		promised := asked.With(spec.Set("seed", "99"))
		for _, v := range asked.Set {
			if v.Name != "file" && r.IntN(3) == 0 {
				promised, left = promised.With(spec.Unset(v.Name)), left+1
			}
		}
		words := promised.Args()[len(strings.Fields(name)):]
		again := measurementOf(t, name, words)
		if err := again.readFile(quiet()); err != nil {
			t.Fatalf("%s\nwith\n%s\n%v", promised.Shell(), text, err)
		}
		if got := again.asked(quiet()); spec.Diff(got, promised) != nil || !slices.Equal(got.Program, promised.Program) || !slices.Equal(got.Operands, promised.Operands) {
			t.Fatalf("with\n%s\nprocfit proposes %s\nand reads       %s", text, promised.Shell(), got.Shell())
		}
	}
	if left < 100 {
		t.Errorf("only %d fields were left out", left)
	}
}

// readBack is what was read of a file, together with what the file lacks, in the order of the
// fields.
func readBack(m *measurement, rest spec.Spec) spec.Spec {
	s := m.asked(quiet()).With(spec.Unset("file"))
	if !m.inCluster() {
		s.Operands = rest.Operands
	}
	all := s.With(spec.Diff(spec.Spec{}, rest)...)
	s.Set = nil
	for _, f := range m.Fields {
		for _, v := range all.Set {
			if v.Name == f.Name {
				s.Set = append(s.Set, v)
			}
		}
	}
	return s
}

// plainJSON is a value as encoding/json would have it.
func plainJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, one := range v {
			v[k] = plainJSON(one)
		}
	case []any:
		for i, one := range v {
			v[i] = plainJSON(one)
		}
	case uint64:
		return float64(v)
	}
	return v
}

// A flag overrides the file, and what cannot be combined with it.
func TestFlagsOverrideTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	const text = "target: {command: [./a, -x]}\ncompare: {procs: [1, 2], slo: p99=5ms}\nload: {connections: 8}\nprotocol: {streams: 2}\nstop: {until: 'likely,trials=50'}\n"
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	// compare has all of these keys but one, and says so; it ends by proof alone.
	all := filepath.Join(t.TempDir(), "compare.yaml")
	must.OK(t, os.WriteFile(all, []byte(strings.Replace(text, "likely,", "", 1)), 0o600))
	var errs bytes.Buffer
	std := quiet()
	std.err = &errs
	must.OK(t, measurementOf(t, "compare", []string{"--file", all, "true", "--", "./b"}).readFile(std))
	if want := "procfit: compare has no use for compare.slo, which the file has\n"; errs.String() != want {
		t.Errorf("%q, want %q", &errs, want)
	}
	for _, c := range []struct {
		args, command, given string
	}{
		{"", "./a -x", "procs slo connections streams until"},
		{"--connections 3", "./a -x", "connections procs slo streams until"},
		{"--load wrk", "./a -x", "load procs connections until"},
		{"--repeats 4", "./a -x", "repeats procs slo connections streams"},
		{"-- ./b", "./b", "procs slo connections streams until"},
	} {
		o := measurementOf(t, "sweep", append([]string{"--file", path}, strings.Fields(c.args)...))
		must.OK(t, o.readFile(quiet()))
		given := slices.DeleteFunc(slices.Clone(o.Names), func(name string) bool { return name == "file" })
		if got := strings.Join(o.command, " "); got != c.command || strings.Join(given, " ") != c.given {
			t.Errorf("%s: command %s, given %s", c.args, got, given)
		}
	}
}

// A sweep in a cluster can be run again from its file, which holds no consent and no
// credential.
func TestFileOfASweepInACluster(t *testing.T) {
	m := measurementOf(t, "kube sweep", strings.Fields("deployment/api -n shop --context prod --image procfit:v1 --load-from local --procs 1,2 --yes --out there --header Authorization:hunted-S3CR3T77"))
	result := pagetest.Typical()
	result.Spec = m.asked(quiet())
	result.Plan.Seed = 7
	result.Settings = settingsOf(result)
	report := page.Report(result)
	settings, script := documenttest.File(report, "procfit.yaml"), documenttest.File(report, "reproduce.sh")
	const want = `compare:
  procs: [1, 2]
  seed: 7
load:
  header:
    Authorization: ${AUTHORIZATION}
cluster:
  object: deployment/api
  namespace: shop
  context: prod
  image: procfit:v1
  loadFrom: local
`
	if _, got, _ := strings.Cut(settings, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if last := "exec \"${PROCFIT:-procfit}\" kube sweep --yes --file \"$here/procfit.yaml\"\n"; !strings.HasSuffix(script, last) || strings.Contains(script, "S3CR3T77") {
		t.Errorf("got\n%s\nwant the end\n%s", script, last)
	}
}

// What only the environment has is in the Spec of a Runner, and in none of a record.
func TestVariablesAreFilledForARunner(t *testing.T) {
	t.Setenv("FORMATS_TOKEN", hunted)
	o := ofFile(t, "sweep", []byte("target:\n  command: [true, -t, '${FORMATS_TOKEN}']\n  env: {A: 'x${FORMATS_TOKEN}', B: '$${HOME}'}\n"))
	s := must.Get(o.resolve(quiet()))(t)
	for _, word := range append(s.Header.Spec.Args(), s.Header.Target.Command...) {
		if strings.Contains(word, hunted) {
			t.Errorf("the header has %q", word)
		}
	}
	if got := s.Header.Target.Command; !slices.Contains(got, spec.Variable("FORMATS_TOKEN")) {
		t.Errorf("the header does not name the variable: %q", got)
	}
	known, err := s.Filled()
	if err != nil || known.Target.Command[2] != hunted || !slices.Equal(known.Target.Env, []string{"A=x" + hunted, "B=${HOME}"}) {
		t.Errorf("%v: %q, %q", err, known.Target.Command, known.Target.Env)
	}
	os.Unsetenv("FORMATS_TOKEN")
	if _, err := s.Filled(); err == nil || !strings.Contains(err.Error(), "export FORMATS_TOKEN=…") {
		t.Error(err)
	}
}

// Every field of a file is one of a command that reads it.
func TestEveryRowHasACommand(t *testing.T) {
	var all []string
	for _, name := range readsFile {
		m, _ := measurements[name](quiet(), &cobra.Command{})
		for _, f := range m.Fields {
			all = append(all, f.Name)
		}
	}
	for _, row := range fileRows() {
		if row.Name != specfile.CommandField && row.Name != specfile.ObjectField && row.Group != field.Check && !slices.Contains(all, row.Name) {
			t.Errorf("no command reads %s.%s", row.Group.Section(), row.Key())
		}
	}
}
