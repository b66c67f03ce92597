package specfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/test/must"
)

func rows() []field.Field { return Rows(plan.NewFlags().Fields()) }

// set is what a file sets, as flags would give it.
func set(t *testing.T, text string) []string {
	t.Helper()
	return allTexts(t, must.Get(Read("procfit.yaml", []byte(text), rows()))(t))
}

func TestReadsNaturalValues(t *testing.T) {
	got := set(t, `
# a server
target:
  command: [./server, -addr, ":{port}"]
  url: ["http://127.0.0.1:{port}/a", "http://127.0.0.1:{port}/b"]
  env:
    GOGC: 50
    TOKEN: ${API_TOKEN}
    SHELL_LIKE: $${HOME} $HOME
  prepare: [rm, -rf, a b, "c\n\td'"]
compare:
  procs: &p [default, 1, 2]
  margin: 5%
load:
  connections: 64
  trialTime: 1m30s
  rate: 2.5e3
  header:
    Accept: text/plain
  body: {id: 7, tags: [a, b], from: 2026-01-01}
protocol:
  tls: {ca: ca.pem, insecure: true}
stop:
`)
	want := []string{
		"command=./server", "command=-addr", "command=:{port}", "url=http://127.0.0.1:{port}/a", "url=http://127.0.0.1:{port}/b",
		"env=GOGC=50", "env=TOKEN={env:API_TOKEN}", "env=SHELL_LIKE=${HOME} $HOME", "prepare=rm -rf 'a b' 'c\n\td'\\'''",
		"procs=default,1,2", "margin=5%", "connections=64", "trial-time=1m30s", "rate=2.5e3", "header=Accept: text/plain", `body={"from":"2026-01-01","id":7,"tags":["a","b"]}`,
		"tls=ca=ca.pem", "tls=insecure",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := set(t, "target: {command: './x -a \"b c\"'}"); !slices.Equal(got, []string{"command=./x", "command=-a", "command=b c"}) {
		t.Errorf("a command in one line: %q", got)
	}
	if got := set(t, "compare: {procs: &x [1, 2], replicas: *x}"); !slices.Equal(got, []string{"procs=1,2", "replicas=1", "replicas=2"}) {
		t.Errorf("an alias: %q", got)
	}
	for _, empty := range []string{"", "---\n", "# nothing\n", "null"} {
		if got := set(t, empty); got != nil {
			t.Errorf("%q sets %q", empty, got)
		}
	}
}

func TestSaysWhatIsWrongAndWhere(t *testing.T) {
	for text, want := range map[string]string{
		"target:\n  comand: [./x]":                                  `f.yaml:2:3: target.comand: unknown key. Did you mean command?`,
		"target:\n  procs: 1":                                       `f.yaml:2:3: target.procs: unknown key. Did you mean compare.procs?`,
		"load:\n  trial-time: 5s":                                   `f.yaml:2:3: load.trial-time: unknown key. Did you mean load.trialTime?`,
		"stop:\n  never: 1":                                         `f.yaml:2:3: stop.never: unknown key; known are until, for, repeats`,
		"taget:\n  url: x":                                          `f.yaml:1:1: unknown section "taget". Did you mean target?`,
		"frobnicate: 1":                                             `f.yaml:1:1: unknown section "frobnicate"; known are target, compare, load, protocol, cpus, stop`,
		"load: 5":                                                   `f.yaml:1:7: load: expected keys with values, as in key: value`,
		"load:\n  rate: 5\n  rate: 6":                               `f.yaml:3:3: load: "rate" is there twice`,
		"load:\n  rate:":                                            `f.yaml:2:8: load.rate has no value: give one, or remove the key`,
		"load:\n  rate: [1, 2]":                                     `f.yaml:2:9: load.rate: expected one value, not a list`,
		"load:\n  rate: {a: 1}":                                     `f.yaml:2:9: load.rate: expected a value, not keys`,
		"load:\n  header: {A: [1]}":                                 `f.yaml:2:15: load.header.A: expected a plain value`,
		"load:\n  header: []":                                       `f.yaml:2:11: load.header is empty: give a value, or remove the key`,
		"compare:\n  procs: [1, [2]]":                               `f.yaml:2:14: compare.procs: expected a list of plain values`,
		"target: {env: {A: '${A-b}'}}":                              "f.yaml:1:15: target.env has ${ without a variable's name: write ${NAME} for a variable of the environment, and $${ for ${ itself",
		"target: {command: 'a | b'}":                                `f.yaml:1:19: target.command "a | b": | needs a shell`,
		"load:\n  rate: 1\n  header: [a, b":                         `f.yaml:3: invalid YAML: expected ',' or ']'`,
		"load: [":                                                   `f.yaml:1: invalid YAML: expected node content; a value that has { } [ ] : or # needs quotes`,
		"load:\n\trate: 1":                                          `f.yaml:2: invalid YAML: found character that cannot start any token`,
		"load: {rate: 1}\n---\nload: {rate: 2}":                     `f.yaml:2:1: a second document: one file describes one measurement`,
		"load: {rate: 1}\n---\nload: {rate: 2":                      `invalid YAML: expected ',' or '}'`,
		"load:\n  rate: " + strings.Repeat("x", 2<<20):              `f.yaml: larger than 1048576 bytes: not a procfit.yaml`,
		"load:\n  body: &a {b: 1}\n  header: [*a]":                  `f.yaml:2:9: load.header: expected a list of plain values`,
		"load:\n  body: {a: &a [1], b: *a}":                         `f.yaml:2:24: expected plain JSON`,
		"compare: {procs: [" + strings.Repeat("1,", 10_000) + "1]}": `more than 10000 values`,
		"compare: {procs: [&a 1," + strings.Repeat("*a,", 200) + "1]}": `more than 100 aliases`,
		"load:\n  body: {order: 12, code: 0123}":                       `f.yaml:2:27: 0123 is not a number in JSON: write it in quotes, or as JSON does`,
	} {
		_, err := Read("f.yaml", []byte(text), rows())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// A value is refused by the words that refuse a flag.
func TestFieldsRefuseValues(t *testing.T) {
	flags := plan.NewFlags()
	fields := flags.Fields()
	f, err := Read("f.yaml", []byte("load:\n  connections: 64\n  trialTime: 10\n"), Rows(fields))
	must.OK(t, err)
	err = f.Apply(func(field.Field) bool { return false }, func(name, text string) error {
		return fields[slices.IndexFunc(fields, func(f field.Field) bool { return f.Name == name })].Value.Set(text)
	})
	if want := `f.yaml:3:14: load.trialTime "10": add a unit`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if flags.Load.Connections != 64 {
		t.Error("what comes before is not set")
	}
}

// A variable is ${NAME} in a file, and what looks like one is not.
func TestWritesVariables(t *testing.T) {
	got, err := Write(spec.Spec{
		Command: "sweep", Program: []string{"./server", "--api-token", "{env:API_TOKEN}", "${HOME}", "-x={env:GIVEN}"},
		Set: []spec.Value{
			{Name: "env", Texts: []string{"DB_PASSWORD={env:DB_PASSWORD}", "GOGC=50"}}, {Name: "header", Texts: []string{"Authorization: Bearer {env:AUTHORIZATION}"}},
			{Name: "procs", Texts: []string{"default,1,2"}}, {Name: "trial-time", Texts: []string{"5s"}}, {Name: "tls", Texts: []string{"name=h,insecure"}}, {Name: "out", Texts: []string{"r"}},
		},
	}, rows())
	must.OK(t, err)
	const want = `# yaml-language-server: $schema=` + SchemaURL + `
target:
  command: [./server, --api-token, '${API_TOKEN}', '$${HOME}', '-x=${GIVEN}']
  env:
    DB_PASSWORD: ${DB_PASSWORD}
    GOGC: 50
compare:
  procs: [default, 1, 2]
load:
  trialTime: 5s
  header:
    Authorization: Bearer ${AUTHORIZATION}
protocol:
  tls:
    name: h
    insecure: true
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzRead finds texts on which the reader fails otherwise than by an error, and files
// that are not read back as they were written.
func FuzzRead(f *testing.F) {
	f.Add("target:\n  command: [a, b]\n  env: {A: ${B}}\n")
	f.Add("load: {header: {A: b}, body: {x: [1, {y: null}]}}\n")
	f.Add("a: &a [*a]\n")
	f.Add("compare: {procs: [1, 2], margin: 5%}\nstop: {until: likely}\n")
	known := rows()
	f.Fuzz(func(t *testing.T, text string) {
		read, err := Read("f", []byte(text), known)
		if err != nil {
			return
		}
		s := spec.Spec{Command: "sweep"}
		for _, i := range read.items {
			if i.row.Name == CommandField {
				s.Program = i.texts
			} else {
				s.Set = append(s.Set, spec.Value{Name: i.row.Name, Texts: i.texts})
			}
		}
		written, err := Write(s, known)
		if err != nil {
			return
		}
		again, err := Read("f", written, known)
		if err != nil {
			t.Fatalf("%q is written as\n%s\nand then: %v", text, written, err)
		}
		if len(again.items) != len(read.items) {
			t.Fatalf("%q is written as\n%s", text, written)
		}
	})
}
