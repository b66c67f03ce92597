// Package manifest is the Checker of manifests.
package manifest
