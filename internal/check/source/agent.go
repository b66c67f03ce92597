package source

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"net"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/procfit/procfit/internal/program/rule"
)

const (
	pkgLive = pkgMaxprocs + "/live"

	fnHandle         = "net/http.Handle"
	fnHandleFunc     = "net/http.HandleFunc"
	fnStripPrefix    = "net/http.StripPrefix"
	fnServe          = "net/http.Serve"
	fnServeTLS       = "net/http.ServeTLS"
	fnListenAndServe = "net/http.ListenAndServe"
	fnListenTLS      = "net/http.ListenAndServeTLS"
	fnListen         = "net.Listen"
)

// publicAgents is PF044: an Agent of maxprocs/live that is mounted by itself on a server which
// listens on all interfaces. What is around the Agent, or around the mux, may ask for a login,
// so that only what is known to add nothing is looked through.
func publicAgents(u *uses) []found {
	served := u.public()
	if len(served) == 0 {
		return nil
	}
	var all []found
	for _, m := range u.mounts() {
		address, ok := served[m.on]
		if !ok {
			continue
		}
		all = append(all, found{pos: m.at.Pos(), end: m.at.End(), Finding: rule.Finding{
			Message: fmt.Sprintf("%s mounts the Agent of maxprocs/live, which asks for no login, on a server that listens on %s, on all interfaces: whoever reaches it can change GOMAXPROCS", types.ExprString(m.call), address),
			Fix:     "call its Listen, with a unix socket, instead; or mount it on a server of its own on 127.0.0.1, or inside a handler that asks for a login",
		}})
	}
	return all
}

// defaultMux stands for the mux that package http has.
var defaultMux = types.NewLabel(0, nil, "http.DefaultServeMux")

// mount is an Agent on a mux.
type mount struct {
	at   ast.Node
	call ast.Expr     // what mounts it, without its arguments
	on   types.Object // the mux, or the Agent itself where it is all that is served
}

// mounts are those of Agents that nothing is around.
func (u *uses) mounts() (all []mount) {
	for c := range u.root.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		if len(call.Args) != 2 || u.inTest(c) || !u.isAgent(call.Args[1], mostSteps) {
			continue
		}
		on := types.Object(nil)
		sel, _ := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		switch name := u.callee(call); {
		case name == fnHandle || name == fnHandleFunc:
			on = defaultMux
		case sel != nil && (sel.Sel.Name == "Handle" || sel.Sel.Name == "HandleFunc") && u.typeName(sel.X) == "*net/http.ServeMux":
			on = u.object(sel.X)
		}
		if on != nil {
			all = append(all, mount{call, call.Fun, on})
		}
	}
	return all
}

// isAgent reports whether a handler is an Agent, or its method, behind nothing but a prefix. It
// knows one that live.New made where the types of the import are not known.
func (u *uses) isAgent(e ast.Expr, steps int) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if u.callee(e) == fnStripPrefix && len(e.Args) == 2 && steps > 0 {
			return u.isAgent(e.Args[1], steps-1)
		}
		return u.callee(e) == pkgLive+".New"
	case *ast.SelectorExpr:
		if e.Sel.Name == "ServeHTTP" && steps > 0 {
			return u.isAgent(e.X, steps-1)
		}
	case *ast.Ident:
		if v := u.once(e); v != nil && steps > 0 && u.isAgent(v, steps-1) {
			return true
		}
	}
	return u.typeName(e) == "*"+pkgLive+".Agent"
}

func (u *uses) typeName(e ast.Expr) string {
	if t := u.pass.TypesInfo.TypeOf(e); t != nil {
		return t.String()
	}
	return ""
}

// public are the muxes that are served on all interfaces, with the address of the server.
func (u *uses) public() map[types.Object]string {
	all := map[types.Object]string{}
	serve := func(c inspector.Cursor, handler ast.Expr, address string) {
		if on := u.mux(handler, mostSteps); on != nil && address != "" && !u.inTest(c) {
			all[on] = address
		}
	}
	for c := range u.root.Preorder((*ast.CallExpr)(nil), (*ast.CompositeLit)(nil)) {
		switch n := c.Node().(type) {
		case *ast.CompositeLit:
			if u.typeName(n) == "net/http.Server" {
				serve(c, u.fieldOf(n, "Handler"), u.everywhere(u.fieldOf(n, "Addr"), mostSteps))
			}
		case *ast.CallExpr:
			switch name := u.callee(n); {
			case len(n.Args) < 1:
			case (name == fnListenAndServe || name == fnListenTLS) && len(n.Args) > 1:
				serve(c, n.Args[len(n.Args)-1], u.everywhere(n.Args[0], mostSteps))
			case name == fnServe || name == fnServeTLS:
				if len(n.Args) < 2 {
					continue // http.Serve(f()), where f gives both
				}
				serve(c, n.Args[1], u.listening(n.Args[0], mostSteps))
			default: // srv.Serve(l)
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "Serve") {
					if server := u.literal(sel.X); server != nil && u.typeName(server) == "net/http.Server" {
						serve(c, u.fieldOf(server, "Handler"), u.listening(n.Args[0], mostSteps))
					}
				}
			}
		}
	}
	return all
}

// literal is what a variable is once set to, if that is a literal.
func (u *uses) literal(e ast.Expr) *ast.CompositeLit {
	v := u.once(e)
	if a, ok := v.(*ast.UnaryExpr); ok {
		v = a.X
	}
	lit, _ := v.(*ast.CompositeLit)
	return lit
}

// fieldOf is a field of a literal; nil: it is not set.
func (u *uses) fieldOf(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && types.ExprString(kv.Key) == name {
			return kv.Value
		}
	}
	return nil
}

// mux is that of a handler, through the Meter's Middleware, which asks nobody; nil: it is not
// known.
func (u *uses) mux(handler ast.Expr, steps int) types.Object {
	if handler == nil {
		return defaultMux
	}
	switch h := ast.Unparen(handler).(type) {
	case *ast.CallExpr:
		if sel, ok := h.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Middleware" && len(h.Args) == 1 && strings.HasSuffix(u.typeName(sel.X), pkgLive+".Meter") {
			return u.mux(h.Args[0], steps-1)
		}
		return nil
	case *ast.Ident:
		if h.Name == "nil" {
			return defaultMux
		}
	}
	if types.ExprString(handler) == "http.DefaultServeMux" {
		return defaultMux
	}
	if u.typeName(handler) == "*net/http.ServeMux" {
		return u.object(handler)
	}
	if v := u.once(handler); v != nil && steps > 0 {
		return u.mux(v, steps-1)
	}
	return nil
}

// listening is the address of a listener, if it is on all interfaces.
func (u *uses) listening(l ast.Expr, steps int) string {
	if v := u.once(l); v != nil && steps > 0 {
		return u.listening(v, steps-1)
	}
	call, ok := ast.Unparen(l).(*ast.CallExpr)
	if !ok {
		return ""
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Listener" && len(call.Args) == 1 && strings.HasSuffix(u.typeName(sel.X), pkgLive+".Meter") {
		return u.listening(call.Args[0], steps-1)
	}
	if u.callee(call) == fnListen && len(call.Args) == 2 && strings.HasPrefix(u.text(call.Args[0]), "tcp") {
		return u.everywhere(call.Args[1], steps)
	}
	return ""
}

// everywhere is an address that is one of all interfaces, as far as that is known: ":8080",
// ":" + port. What a flag or the environment brings is not known.
func (u *uses) everywhere(address ast.Expr, steps int) string {
	if address == nil {
		return ""
	}
	if v := u.pass.TypesInfo.Types[address].Value; v != nil && v.Kind() == constant.String {
		host, port, err := net.SplitHostPort(constant.StringVal(v))
		if ip := net.ParseIP(host); err != nil || port == "0" || host != "" && (ip == nil || !ip.IsUnspecified()) {
			return ""
		}
		return constant.StringVal(v)
	}
	first := ast.Unparen(address)
	switch e := first.(type) {
	case *ast.BinaryExpr:
		for first = e.X; ; first = ast.Unparen(e.X) {
			if e, _ = first.(*ast.BinaryExpr); e == nil {
				break
			}
		}
	case *ast.CallExpr:
		if u.callee(e) == "fmt.Sprintf" && len(e.Args) > 0 {
			first = e.Args[0]
		}
	case *ast.Ident:
		if v := u.once(e); v != nil && steps > 0 {
			return u.everywhere(v, steps-1)
		}
	}
	if text := u.text(first); strings.HasPrefix(text, ":") || strings.HasPrefix(text, "0.0.0.0:") || strings.HasPrefix(text, "[::]:") {
		return types.ExprString(address)
	}
	return ""
}
