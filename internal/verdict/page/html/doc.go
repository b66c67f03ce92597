// Package html lays a style.View out as one self-contained page: no script, no
// font, no image, nothing fetched; a Content-Security-Policy in the page forbids
// it too. Text from outside goes through html/template and stays text.
//
// Charts are inline SVG without a viewBox: horizontal positions are percentages
// and vertical ones pixels, so that a chart fills a phone or a desktop column
// with text of the same size. Each setting is a group whose values show on hover,
// tap or focus by CSS alone, and whose title reads them out.
package html
