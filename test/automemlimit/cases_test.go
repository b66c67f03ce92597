// Package automemlimit holds the library's reading of memory limits against
// github.com/KimMachineGun/automemlimit v1.0.1: that module's own fixtures and
// tables of cases, read where the module lies when the test runs, and its
// FromCgroup itself in worlds made at random.
//
// It is a module of its own, so that nothing else requires the other module.
package automemlimit

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// theirModule is where the other module lies.
func theirModule(t *testing.T) string {
	t.Helper()
	out := must.Get(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/KimMachineGun/automemlimit").Output())(t)
	return filepath.Join(strings.TrimSpace(string(out)), "memlimit")
}

// ours is what the library finds in a tree: bytes, "none", or "error" where a
// limit is not known.
func ours(t *testing.T, tree fstest.MapFS) string {
	t.Helper()
	m := must.Get(facts.ReadMemoryFS(denying{tree}, 0))(t)
	if unknown := m.Unknown(); len(unknown) > 0 {
		return "error: " + strings.Join(unknown, "; ")
	}
	if m.Cgroup.State != facts.Known {
		return "error: the cgroup is " + string(m.Cgroup.State)
	}
	if l, ok := m.Tightest(); ok {
		return strconv.FormatInt(l.Bytes, 10)
	}
	return "none"
}

// class is the answer, without why it is an error.
func class(answer string) string {
	before, _, _ := strings.Cut(answer, ":")
	return before
}

// Why the library says something else.
const (
	oneHierarchy = "the mounts of one hierarchy hold the same in every kernel; the library reads the first that shows the group"
	narrower     = "what a narrower mount shows certainly applies; the library reads it where the wider one is closed"
	always       = "every kernel with the controller has memory.limit_in_bytes; the library finds the group, and no limit in it"
)

// differ are their cases in which it does, with the reason.
var differ = map[string]string{
	"v2 permission_does_not_fall_back_to_narrower_mount": narrower,
	"v2 parse_error_blocks_concrete_limits":              oneHierarchy,
	"v2 conflicting_concrete_limits_return_error":        oneHierarchy,
	"v2 concrete_limit_wins_over_no_limit":               oneHierarchy,
	"v1 permission_in_memory_stat_uses_readable_peer":    oneHierarchy,
	"v1 conflicting_concrete_limits_return_error":        oneHierarchy,
	"v1 incomplete_mount_is_skipped":                     always,
	"v1 missing_v1_limit_files_is_skipped":               always,
	"fixture v1_conflicting_mounts":                      oneHierarchy,
}

// TestTheirCases: every case of their tables for v1 and v2, as a tree.
func TestTheirCases(t *testing.T) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(theirModule(t), "cgroups_test.go"), nil, 0))(t)
	seen := 0
	for version, function := range map[string]string{"v1": "TestGetMemoryLimitV1FromControllerPath", "v2": "TestGetMemoryLimitV2FromControllerPath"} {
		for _, c := range table(t, file, function) {
			seen++
			name := version + " " + text(c["name"])
			want := fmt.Sprint(c["want"])
			switch {
			case text(c["wantErrIs"]) == "ErrNoLimit":
				want = "none"
			case c["wantErrIs"] != nil || c["wantErr"] != nil:
				want = "error"
			case c["want"] == nil:
				want = "0"
			}
			judge(t, name, ours(t, treeOf(version, c)), want)
		}
	}
	t.Logf("%d cases", seen)
	if seen < 30 {
		t.Errorf("found %d cases, want at least 30: is that file read aright?", seen)
	}
}

// judge holds an answer against theirs; a difference must be listed, and what is
// listed must be one.
func judge(t *testing.T, name, got, want string) {
	t.Helper()
	reason, listed := differ[name]
	switch same := class(got) == class(want); {
	case !same && !listed:
		t.Errorf("%s: %s, theirs %s", name, got, want)
	case same && listed:
		t.Errorf("%s: no difference (%s), and it is listed: %s", name, got, reason)
	case !same:
		t.Logf("%s: %s, theirs %s: %s", name, got, want, reason)
	}
}

// treeOf is the case as a tree: each mount a directory, and in every group the file
// that each group of a kernel has.
func treeOf(version string, c map[string]any) fstest.MapFS {
	tree := fstest.MapFS{"proc/self/environ": {}, "proc/self/cgroup": {Data: []byte(map[string]string{"v1": "5:memory:", "v2": "0::"}[version] + text(c["relPath"]) + "\n")}}
	var mountinfo strings.Builder
	mounts, _ := c["mounts"].([]any)
	for i, mount := range mounts {
		m := mount.(map[string]any)
		point := fmt.Sprintf("mnt/%d", i)
		fmt.Fprintf(&mountinfo, "%d 30 0:%d %s /%s rw - %s cgroup %s\n", 40+i, 40+i, text(m["root"]), point, text(m["filesystemType"]), cmp.Or(text(m["superOptions"]), "rw"))
		files, _ := m["files"].([]any)
		denied := text(m["deniedPath"])
		if denied == "." {
			continue // nothing in it can be looked up
		}
		for _, f := range files {
			spec := f.(map[string]any)
			name := point + "/" + text(spec["path"])
			tree[filepath.Dir(name)+"/cgroup.procs"] = &fstest.MapFile{}
			tree[name] = &fstest.MapFile{Data: []byte(text(spec["content"]))}
			if denied == text(spec["path"]) {
				tree[name] = &fstest.MapFile{Data: []byte(refused)}
			}
		}
	}
	tree["proc/self/mountinfo"] = &fstest.MapFile{Data: []byte(mountinfo.String())}
	return tree
}

// table evaluates the composite literal "tests" of a function of theirs.
func table(t *testing.T, file *ast.File, function string) (rows []map[string]any) {
	t.Helper()
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		for _, s := range f.Body.List {
			if a, ok := s.(*ast.AssignStmt); ok && a.Lhs[0].(*ast.Ident).Name == "tests" {
				for _, row := range value(t, a.Rhs[0]).([]any) {
					rows = append(rows, row.(map[string]any))
				}
			}
		}
	}
	return rows
}

// value is a literal's: a string, a map by field names, a list; an identifier's is
// its name.
func value(t *testing.T, e ast.Expr) any {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return must.Get(strconv.Unquote(e.Value))(t)
		}
		return e.Value
	case *ast.Ident:
		if e.Name == "noLimit32" { // of a kernel with 32 bits; this test runs on 64, where it is a limit
			return strconv.FormatUint(uint64(math.MaxInt32)*uint64(os.Getpagesize()), 10)
		}
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.BinaryExpr:
		return text(value(t, e.X)) + text(value(t, e.Y))
	case *ast.CompositeLit:
		fields, list := map[string]any{}, []any{}
		for _, item := range e.Elts {
			if kv, ok := item.(*ast.KeyValueExpr); ok {
				fields[kv.Key.(*ast.Ident).Name] = value(t, kv.Value)
				continue
			}
			list = append(list, value(t, item))
		}
		if len(fields) > 0 {
			return fields
		}
		return list
	}
	t.Fatalf("an expression of another kind: %T", e)
	return nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
