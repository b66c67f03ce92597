// Package browser tests report.html and the site of the documentation in a real browser:
// a headless Chromium, as wide as a phone and as a desk, light and dark, with and without
// JavaScript.
//
// It is a module of its own, so that the browser's driver is no dependency of
// the tool. It takes the tool's packages from the workspace and so builds only
// within it: `go test work` at the root.
package browser
