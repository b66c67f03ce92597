// Package style is what procfit's HTML pages have in common: the style sheets of
// their colours and type, of charts, of values under the pointer and of tables, as
// templates for html/template.
// Each page is one file that fetches nothing and runs no script.
package style

import "embed"

// Styles holds look.css with its colors.css, chart.css, hover.css and table.css. A page's own style sheet, which
// says more of the same classes, follows them.
//
//go:embed *.css
var Styles embed.FS
