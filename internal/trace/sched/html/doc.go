// Package html lays a view of a scheduler trace out as one self-contained page: no
// script, no font, nothing fetched. Text from outside goes through html/template
// and stays text.
//
// All charts share the horizontal axis, so that what happens at one time stands in
// one column. Values show on hover or tap by CSS alone.
package html
