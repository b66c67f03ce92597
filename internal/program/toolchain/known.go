package toolchain

import (
	"context"
	"fmt"
	"go/version"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/secret"
)

// asking is the longest time that a module proxy is asked which releases there are.
const asking = 5 * time.Second

// Check says which of the versions there cannot be, before anything is built with it. It
// needs a network only for a version that is newer than the go command here, and for a
// release in full that is not in the module cache. A version that it accepts may still be
// one that the module proxy lacks for this system.
func (g Go) Check(ctx context.Context, versions ...string) error {
	if len(versions) == 0 {
		return nil
	}
	plain, env, err := g.plain(ctx)
	if err != nil { // without a go command; the build says so
		return ctx.Err()
	}
	local, err := plain.local(ctx)
	if err != nil || !version.IsValid(local) { // one that is developed knows no number
		return err
	}
	var doubtful []string
	for _, v := range versions {
		parts := goVersion().FindStringSubmatch(v)
		switch {
		case parts == nil:
			return unknown(v, local, "expected one such as 1.24 or 1.24.6")
		case parts[2] == "" && version.Compare(version.Lang("go"+parts[1]), version.Lang(local)) <= 0:
		case "go"+parts[1]+parts[2] == local, slices.Contains(last, "go"+parts[1]+parts[2]), cached(env["GOMODCACHE"], "go"+parts[1]+parts[2]):
		default:
			doubtful = append(doubtful, v)
		}
	}
	if doubtful == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	listed, _ := plain.listed(limited) // empty: there is no network
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, v := range doubtful {
		if why := doubt(v, local, listed, env); why != "" {
			return unknown(v, local, why)
		}
	}
	return nil
}

// doubt is why there is no such release, by the list of a module proxy; empty: there is
// one, or may be. A proxy does not list all old releases, and without a network the list
// is empty.
func doubt(asked, local string, listed []string, env map[string]string) string {
	parts := goVersion().FindStringSubmatch(asked)
	lang, full := "go"+parts[1], "go"+parts[1]+parts[2]
	released := slices.DeleteFunc(slices.Clone(listed), func(v string) bool { return strings.ContainsAny(v, "rb") })
	newest := func(of []string) string { return slices.MaxFunc(of, version.Compare) }
	same := slices.DeleteFunc(slices.Clone(listed), func(v string) bool { return version.Lang(v) != lang })
	switch {
	case slices.Contains(listed, full):
		return ""
	case len(released) == 0 && version.Compare(lang, version.Lang(local)) > 0:
		if here := inCache(env["GOMODCACHE"], parts[1]); parts[2] == "" && slices.ContainsFunc(here, func(v string) bool { return version.Lang(v) == lang }) {
			return ""
		}
		return fmt.Sprintf("it is newer than %s here, and GOPROXY=%s cannot be asked for it", local, secret.Text(env["GOPROXY"]))
	case len(released) == 0, parts[2] == "" && len(same) > 0:
		return ""
	case version.Compare(full, newest(released)) > 0:
		return "the newest release is " + strings.TrimPrefix(newest(released), "go")
	case len(same) > 0 && version.Compare(full, newest(same)) > 0:
		return fmt.Sprintf("the newest release of Go %s is %s", parts[1], strings.TrimPrefix(newest(same), "go"))
	}
	return ""
}

func unknown(asked, local, why string) error {
	example := strings.TrimPrefix(version.Lang(local), "go")
	return fmt.Errorf("%q: this Go version cannot be had: %s; try %s", asked, why, example)
}
