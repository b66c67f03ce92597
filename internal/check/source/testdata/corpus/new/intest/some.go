// Tests may set what they like.
package intest
