package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const hunted = "S3CR3Tq7S3CR3Tq7"

// secretForms are the words in which a command line may have a credential, made from
// names and from what sets a value off.
func secretForms() (forms [][]string) {
	add := func(words ...string) {
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "$", hunted)
		}
		forms = append(forms, words)
	}
	for _, name := range []string{"token", "password", "api-key", "client-secret", "signing-key", "pw", "pass", "encryption-key", "auth", "dsn"} {
		add("--"+name, "$")
		add("-"+name, "$")
		add("--"+name, "two words $")
		add("--" + name + "=$")
		add("-" + name + "=$")
		add("--" + name + "=two$") // and its quotes are the shell's
	}
	for _, name := range []string{"TOKEN", "DB_PASSWORD", "API_KEY", "SIGNING_KEY", "PW", "accountKey"} {
		add("env", name+"=$")
		add("sh", "-c", name+"='$ and $' ./server -v")
		add("sh", "-c", "export "+name+"=\"$\"; ./server")
		add(`{"a": 1, "` + name + `" : "$"}`)
	}
	for _, name := range []string{"token", "key", "code", "sig", "access_token", "X-Amz-Signature", "apikey"} {
		add("http://h:1/p?a=1&" + name + "=$&b=2")
		add("--url=http://h:1/p?" + name + "=$")
	}
	for _, scheme := range []string{"postgres", "amqps", "redis", "http"} {
		add(scheme + "://u:$@h:1/db")
		add("--db=" + scheme + "://u:a/$@h:1/db")
	}
	add("https://$@github.test/a/b")
	for _, user := range []string{"--user", "--proxy-user", "-u"} {
		add(user, "me:$")
		add(user + "=me:$")
	}
	add("-ume:$")
	add("hey", "-a", "me:$")
	add("u:$@tcp(h:3306)/db")
	add("--db", "u:a:b/$@unix(/run/db)/db")
	add("me:$@h:5432/db")
	add("mysql", "-p$", "db")
	add("sshpass", "-p", "$", "ssh", "h")
	add(`{"tokens": ["a", "$"]}`)
	add(`{\"password\":\"$\"}`)
	add("<password>$</password>")
	add("http://h/?next=http%3A%2F%2Fi%2F%3Ftoken%3D$")
	for _, flag := range []string{"-H", "--header", "--proxy-header"} {
		add(flag, "X-Any: $ and $")
		add(flag+"=Authorization: Bearer $", "x")
	}
	add("-HX-Any: $")
	add("curl -H 'Cookie: a=$; b=$' http://h")
	for _, prefix := range []string{"ghp_", "github_pat_", "glpat-", "xoxb-", "AKIA", "sk_live_", "eyJhbGciOi.eyJzdWIi.", "https://hooks.slack.com/services/T0/B0/", "https://discord.com/api/webhooks/1/"} {
		add(prefix + "$")
		add("say", "--text", "use "+prefix+"$ here")
	}
	for _, kind := range []string{"", "RSA ", "OPENSSH "} {
		add("-----BEGIN " + kind + "PRIVATE KEY-----\n$\n$\n-----END " + kind + "PRIVATE KEY-----")
	}
	return forms
}

// shell is words as a command that a shell would split into them.
func shell(words ...string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}

// without says where the hunted value is in what is written and printed, also as the name of
// a variable, which has capitals.
func without(t *testing.T, args []string, dir string, streams ...string) {
	t.Helper()
	for _, s := range streams {
		if i := strings.Index(strings.ToUpper(s), strings.ToUpper(hunted)); i >= 0 {
			t.Errorf("%q\nprinted …%s", args, s[max(0, i-120):])
		}
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if i := bytes.Index(bytes.ToUpper(b), []byte(strings.ToUpper(hunted))); i >= 0 {
			t.Errorf("%q\n%s has …%s", args, name, b[max(0, i-120):min(len(b), i+40)])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// failing has trials that fail with what the user gave.
type failing struct {
	reason string
	code   journal.InvalidCode
}

func (failing) Prepare(context.Context, journal.Plan, plan.Observer) error { return nil }
func (failing) Close() error                                               { return nil }

func (f failing) Run(_ context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	observe(plan.Activity{Step: plan.StepLoadCommand, Detail: f.reason})
	return journal.Trial{
		Origin: journal.OriginLocal, Setting: task.Setting, Role: task.Role, Block: task.Block, Order: task.Order,
		InvalidCode: f.code, InvalidReason: "it ended: " + f.reason, ObservedProcs: []*int{nil},
	}, nil
}

// A credential is in no file of a results folder and in no stream, however and wherever
// it is given. The first tier has each form in one place.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	forms := secretForms()
	distinct := map[string]bool{}
	for _, f := range forms {
		distinct[shell(f...)] = true
	}
	if len(distinct) < 85 {
		t.Fatalf("%d forms", len(distinct))
	}
	const server = "http://127.0.0.1:{port}/"
	places := map[string]func(form, words []string, line, nested, twice string) []string{
		"a batch program": func(form, words []string, line, _, _ string) []string {
			return append([]string{"--prepare", line, "--env", "MODE=" + form[len(form)-1], "--"}, words...)
		},
		"shells": func(_, _ []string, line, nested, twice string) []string {
			return []string{"--prepare=" + nested, "--", "sh", "-c", "cd /; " + twice + " && " + line}
		},
		"a server": func(_, words []string, line, nested, _ string) []string {
			return append([]string{"--url", server, "--cpus", "load=shared", "--ready", line, "--beside", nested, "--body", line, "--header", "X-Any: " + hunted, "--"}, append(words, "{port}")...)
		},
		"two versions": func(_, _ []string, line, _, twice string) []string {
			return []string{"compare", line + " {port}", "--url", server, "--cpus", "load=shared", "--load", line + " {url}", "--ready", twice, "--", "true", "{port}"}
		},
	}
	for n, place := range slices.Sorted(maps.Keys(places)) {
		args := places[place]
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			for i, form := range forms {
				if !need.Full() && (i+n)%4 > 0 {
					continue
				}
				words := append([]string{"true"}, form...)
				line := shell(words...)
				nested := shell("sh", "-c", line)
				sweepInProcess(t, args(form, words, line, nested, "sh -c "+shell("cd /; "+nested+" | cat")), line)
			}
		})
	}
}

// sweepInProcess is procfit sweep, or compare, with trials that fail.
func sweepInProcess(t *testing.T, args []string, reason string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	var out, errs bytes.Buffer
	all, cmd := append([]string{"sweep", "--procs", "1", "--repeats", "1", "--out", dir}, args...), &cobra.Command{}
	var m *measurement
	var resolve func(stdio) (*session.Session, error)
	if args[0] == "compare" {
		all = append([]string{"compare", "--procs", "1", "--until", "trials=12", "--out", dir}, args[1:]...)
	}
	std := newStdio(t.Context(), strings.NewReader(""), &out, &errs, all)
	if args[0] == "compare" {
		o := newCompareOptions()
		o.bind(std, cmd, o.Fields)
		m, resolve = &o.measurement, o.resolve
		must.OK(t, errors.Join(cmd.ParseFlags(all[1:]), o.take(cmd.Flags().Args(), cmd.ArgsLenAtDash())))
	} else {
		m = newSweepOptions()
		m.bind(std, cmd, m.Fields)
		resolve = m.resolve
		must.OK(t, cmd.ParseFlags(all[1:]))
		m.command = cmd.Flags().Args()
	}
	s, err := resolve(std)
	if err != nil {
		t.Fatalf("%q: %v", all, err)
	}
	var bar *progress
	_, err = s.Run(t.Context(), failing{reason, journal.InvalidExit}, m.events(std, s, &bar))
	if bar == nil {
		t.Fatal(err)
	}
	bar.finish()
	if err := m.conclude(std, s, err); err != nil {
		std.notef("%v", err)
	}
	without(t, all, dir, out.String(), errs.String())
}

// What is refused is shown without credentials, for logs of CI keep messages. The first tier
// has each form in every fourth command.
func TestSecretsInMessages(t *testing.T) {
	t.Chdir(t.TempDir()) // a dry run tries whether it could write here
	refused := func(args []string) {
		_, out, errs := callMain(t, args...)
		if out+errs == "" {
			t.Errorf("%q prints nothing", args)
		}
		without(t, args, t.TempDir(), out, errs)
	}
	for _, args := range [][]string{
		{"load", "--header", "Authorization " + hunted, "http://127.0.0.1:1/"},
		{"load", "--header", "X-Any: a\n" + hunted, "http://127.0.0.1:1/"},
		{"sweep", "--dry-run", "--url", "http://u:xxxxx@h:{port}/?token=" + hunted, "--", "true", "{port}"},
		{"sweep", "--dry-run", "--url", "nothing?key=" + hunted, "--", "true", "{port}"},
		{"sweep", "--dry-run", "--url", "http://h/?code=" + hunted},
	} {
		refused(args)
	}
	for i, form := range secretForms() {
		words := append([]string{"true"}, form...)
		line := shell(words...)
		for n, args := range [][]string{
			append([]string{"run", "--dry-run", "--"}, words...),
			append([]string{"run", "--", "./nosuch"}, form...),
			append([]string{"sweep", "--dry-run", "--procs", "1", "--"}, words...),
			append([]string{"sweep", "--nosuch", "--"}, words...),
			append([]string{"trace", "--", "./nosuch"}, form...),
			{"sweep", "--prepare", line + " | x", "--", "true"},
			{"compare", line + " > x", "--", "true"},
			{"sweep", "--dry-run", "--url", "http://h/", "--ready", line + " &", "--", "true"},
			{"sweep", "--dry-run", "--url", "http://h/", "--load", line, "--", "true"},
			{"sweep", "--beside", line + "; x", "--", "true"},
			{"load", "--for", "1ms", "ftp://h/?q=" + form[len(form)-1] + "&token=" + hunted},
		} {
			if need.Full() || (i+n)%4 == 0 {
				refused(args)
			}
		}
	}
}

// The lines of a file of requests are not on the command line.
func TestSecretsInRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "requests")
	for _, line := range []string{"GET ftp:/h?token=" + hunted, "http://h/?key=" + hunted, "GET http://u:x@h/?code=" + hunted, "GET /\nAuthorization " + hunted, fmt.Sprintf(`{"method":"GET","url":"http://u:%s@h/"}`, hunted)} {
		must.Write(t, file, line+"\n")
		args := []string{"load", "--requests", file, "http://127.0.0.1:1/"}
		code, out, errs := callMain(t, args...)
		if code != exitUsage {
			t.Errorf("%s: exit code %d, %s", line, code, errs)
		}
		without(t, args, t.TempDir(), out, errs)
	}
}

// Trials that a hypervisor spoilt do not end a sweep before its time, and one that has no
// other trials has measured nothing.
func TestNoneValid(t *testing.T) {
	o, cmd := newSweepOptions(), &cobra.Command{}
	args := []string{"sweep", "--procs", "1", "--repeats", "1", "--out", filepath.Join(t.TempDir(), "out"), "--", "true"}
	var out bytes.Buffer
	std := newStdio(t.Context(), strings.NewReader(""), &out, io.Discard, args)
	o.bind(std, cmd, o.Fields)
	must.OK(t, cmd.ParseFlags(args[1:]))
	o.command = cmd.Flags().Args()
	s, err := o.resolve(std)
	must.OK(t, err)
	var bar *progress
	_, err = s.Run(t.Context(), failing{"nothing", journal.InvalidStolen}, o.events(std, s, &bar))
	bar.finish()
	must.OK(t, err)
	if err := o.conclude(std, s, nil); !errors.Is(err, errNoneValid) || !strings.Contains(out.String(), "No trial was valid") {
		t.Errorf("%v; printed %s", err, out.String())
	}
}
