package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// codeBlocks renders code: commands apart from what they print, comments and strings.
type codeBlocks struct{}

func (c codeBlocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, c.render)
	r.Register(ast.KindCodeBlock, c.render)
	r.Register(ast.KindCodeSpan, c.renderSpan)
}

func (codeBlocks) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	code := string(bytes.TrimRight(n.Lines().Value(source), "\n"))
	if strings.HasPrefix(code, "$ ") {
		language = "console"
	}
	_, err := fmt.Fprintf(w, "<div class=\"code\"><pre tabindex=\"0\"><code>%s</code></pre></div>\n", highlight(language, code))
	return ast.WalkContinue, err
}

// mostUnbroken is how many letters of code in a sentence stay on one line.
const mostUnbroken = 28

func (codeBlocks) renderSpan(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code, tag := plain(n, source), "<code>"
	if len(code) > mostUnbroken {
		tag = `<code class="long">`
	}
	_, err := w.WriteString(tag + html.EscapeString(code) + "</code>")
	return ast.WalkSkipChildren, err
}

// highlight is code as HTML.
func highlight(language, code string) string {
	if language == "console" {
		return console(code)
	}
	pattern := tokens[language]
	if pattern == nil {
		return html.EscapeString(code)
	}
	var b strings.Builder
	end := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(code, -1) {
		for group, class := range []string{"", "comment", "string", "key"} {
			if group > 0 && m[2*group] >= 0 {
				from, to := m[2*group], m[2*group+1]
				fmt.Fprintf(&b, `%s<span class="%s">%s</span>`, html.EscapeString(code[end:from]), class, html.EscapeString(code[from:to]))
				end = to
			}
		}
	}
	return b.String() + html.EscapeString(code[end:])
}

// console is a session: what follows a prompt is a command, which a trailing backslash
// continues.
func console(code string) string {
	var b strings.Builder
	command := false
	for line := range strings.Lines(code) {
		text, newline := strings.CutSuffix(line, "\n")
		rest, prompt := strings.CutPrefix(text, "$ ")
		switch command = command || prompt; {
		case prompt:
			fmt.Fprintf(&b, `<span class="prompt">$ </span><b>%s</b>`, html.EscapeString(rest))
		case command:
			fmt.Fprintf(&b, "<b>%s</b>", html.EscapeString(text))
		default:
			b.WriteString(html.EscapeString(text))
		}
		command = command && strings.HasSuffix(text, `\`)
		if newline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// tokens are a language's comments, strings and keywords or keys, in this order.
var tokens = map[string]*regexp.Regexp{
	"go":         regexp.MustCompile(`(//.*)|("(?:\\.|[^"\\\n])*"|` + "`[^`]*`" + `)|\b(break|case|const|defer|else|for|func|go|if|import|interface|map|package|range|return|select|struct|switch|type|var)\b`),
	"yaml":       regexp.MustCompile(`(?m)((?:^|\s)#.*)|("(?:\\.|[^"\\\n])*"|'[^'\n]*')|^([ \t]*(?:- )?[\w./-]+:)`),
	"json":       regexp.MustCompile(`(//.*)|("(?:\\.|[^"\\\n])*")|\b(true|false|null)\b`),
	"sh":         regexp.MustCompile(`(?m)((?:^|\s)#.*)|("(?:\\.|[^"\\])*"|'[^']*')|\b(if|then|else|fi|for|in|do|done|while|export)\b`),
	"dockerfile": regexp.MustCompile(`(?m)(^#.*)|("(?:\\.|[^"\\\n])*")|^(FROM|RUN|COPY|ENV|CMD|ENTRYPOINT|WORKDIR|ARG|USER|EXPOSE)\b`),
	"mod":        regexp.MustCompile(`(?m)(//.*)|("[^"\n]*")|^(module|go|toolchain|require|replace|godebug|tool)\b`),
}
